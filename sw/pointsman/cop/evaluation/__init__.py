"""Evaluation of COP forms: names, calls, constructs and operators, to the finished tree of operators.

Takes forms (``cop.text.reader``), a network and bounds; gives a `Program`. Start with ``evaluator``, the stack on which all
evaluation runs. ``forms`` has Lisp's special forms, ``constructs`` the forms that group operators, ``operators`` the operators,
``compound`` operators defined in terms of operators; ``parts`` merges copies of a group; ``finish`` checks the whole tree and
makes the Program (Metcalf 1997, chapter 2 and appendix A).
"""
