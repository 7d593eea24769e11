"""A machine with logical channels, to the clock: connections in phases, and messages, in the manner of iWarp.

Sources: Feldmann, Stricker and Warfel 1993 (ConSet), §4. Start with ``session``: it runs a program on every cell. ``fabric``
says what happens in a clock and has the compiled engine, ``naive`` moves words one by one and is what the other is compared with.
"""
