"""Ways to simulate a mesh, all with the face of ``base.Engine``.

``verilated`` is the RTL compiled by Verilator, ``model`` a cycle model compiled by Numba, ``amaranth`` the RTL in
Amaranth's own simulator. ``processors`` says what requests mean, in plain Python.
"""
