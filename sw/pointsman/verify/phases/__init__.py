"""How phases end, and links, registers and VFSMs that several phases use: no word is lost or taken for another phase's.

These prove that no word is overwritten when nodes change phases at different times: ``links`` (wires), ``reuse``
(registers and VFSMs), ``continuing`` (operators that go on). How a phase ends: ``ends`` and ``drain``. How far nodes
can be ahead of each other: ``skew``. Which phases can follow which: ``succession``. What a router may meet while it changes:
``rewriting``. There are more modules than in other folders because each rule between phases has one. Metcalf 1997, chapter 5.
"""
