"""Rules that a node keeps by itself in a phase (no word overwritten, nothing used twice), and the views that the judge works on.

Takes images that keep the rule "structure". ``rules`` are proved of ``node``: what each VFSM does, slot by slot, for a
choice of roles.
"""
