"""COP from Python, without text: functions with the operators' names, and what makes a `Program` of them.

The names that users need stand in `pointsman.cop`. ``functions`` has the operators and constructs, ``calls`` turns what
they give into the forms that the evaluator takes, ``writer`` prints a Program as Python.
"""
