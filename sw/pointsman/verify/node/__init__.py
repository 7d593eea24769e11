"""Rules that one node keeps by itself within a phase, and the views of nodes and phases on which all of the judge works.

Takes images that keep the rule "structure". Start at ``node``: what each VFSM does, slot by slot, for a choice of roles.
"""
