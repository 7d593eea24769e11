"""Array programs that run: which elements go between which processors, by which operators, and what each processor computes.

``homes`` and ``transfers`` say where elements are and go, ``sites`` all that is sent at a place, ``steps`` how; ``cop_program``
makes the COP program and ``local`` the work of a processor. ``pointsman.runtime.array_programs`` runs them.
"""
