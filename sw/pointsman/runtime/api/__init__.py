"""Interface of applications on every target: nodes, the functions of their operators, and the requests of processors.

Begin with `application` and `node`. `operator_functions` checks the arguments of an operator's load, write, read and func, and
hands words to a port (`substrate`), of which each target has its own. `requests` is all that a processor can ask for: time, a
register, words to move. `replaced` and `replaced_sequence` carry out an operator that the planner replaced by several; `together`
carries out calls of several operators at the same time. `made_calls` tells of calls that were not awaited. There are more
than twelve modules because all that an application sees is here.
"""
