"""What an application sees on every target: nodes, the functions of its operators, and what processors may ask for.

Begin with `application` and `node`. `operator_functions` checks the arguments of an operator's load, write, read and func, and
hands words to a port (`substrate`), of which each target has its own. `requests` is all that a processor can ask for: time, a
register, words to move. `replaced` and `replaced_sequence` carry out an operator that the planner replaced by several.
"""
