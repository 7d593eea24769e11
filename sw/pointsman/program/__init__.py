"""What a program means on a network, whether it was written as COP text or in Python; and the catalogue of operators.

A `Program` is a tree: groups (sequential, parallel, loop, optional …) of operators, each with a label, the nodes that take
part in each of its instances, its operands, and optional arguments such as the words of a message. It says what is
communicated, not how: routes, phases and implementations come later (``plan``). Values that only the running application
knows are `Runtime` values with the range that the text promises. Start with ``program``; ``catalogue`` says what operands each
kind of operator takes (Metcalf 1997, Table A.3).
"""
