"""COP forms are evaluated: names, calls, constructs and operators, until the tree of operators stands.

Takes forms (``cop.text.reader``), a network and bounds; gives a `Program`. Start with ``evaluator``, the stack on which all
evaluation runs. ``forms`` are the words of Lisp, ``constructs`` those that group operators, ``operators`` the operators,
``compound`` operators made of others; ``parts`` merges what copies of a group have in common; ``finish`` checks the whole
tree and makes the Program (Metcalf 1997, chapter 2 and appendix A).
"""
