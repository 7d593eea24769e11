"""Chains of a phase negotiated in compiled code: routes, slots, trees, and the rounds over all of them."""
