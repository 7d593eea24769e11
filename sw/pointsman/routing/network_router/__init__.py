"""Words packed into slots: many streams on a whole network, by negotiation in compiled code."""
