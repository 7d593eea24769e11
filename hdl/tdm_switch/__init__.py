"""Time-multiplexed crossbar switch with a predictive scheduler in Amaranth (Ding et al. 2005): one block a file.

``shape`` (sizes) and ``codes`` (commands, addresses) are read by everything: RTL, model, compiler and documentation.
In the order of a decision: ``cell`` and ``array``, ``prescheduling``, ``priority``, ``slots``, ``requests``, ``commands``,
``scheduler``; around it ``nic``, ``crossbar``, ``switch``.
"""
