"""Array programs: distributed arrays and loops, to communications, patterns on processors and phases (Yuan 1998, Chapter 5).

A program comes from Fortran text (``fortran``) or from Python (``building``) and is a tree (``tree``); ``analysis`` derives and
improves its communications, ``physical`` places them on processors.
"""
