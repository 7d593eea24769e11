"""COP from Python, without text: functions with the operators' names, and their compilation to a `Program`.

Users import `pointsman.cop`. ``functions`` has the operators and constructs, ``calls`` turns their results into the forms
that the evaluator takes, ``writer`` prints a Program as Python.
"""
