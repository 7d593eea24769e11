"""Three engines for the mesh, all with the interface ``base.Engine``: compiled RTL, a cycle model, interpreted RTL.

``verilated`` is the RTL compiled by Verilator, ``model`` a cycle model compiled by Numba (``model_tables`` its state,
``model_kernel`` its cycle), ``amaranth`` the RTL in Amaranth's own simulator.
"""
