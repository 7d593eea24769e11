"""How phases end, and what is used again in another phase: that no word is left behind and none is taken for another phase's.

What proves that a word is not overwritten when nodes change phases at different times: ``links`` (wires), ``reuse``
(registers and VFSMs), ``continuing`` (operators that go on). How a phase ends: ``ends`` and ``drain``. Who can be ahead of
whom: ``skew``. What can follow what: ``succession``. Metcalf 1997, chapter 5.
"""
