"""The RTL, translated to C++ by Verilator and compiled into a Python extension that also resumes the programs.

``engine`` runs any hardware of `cosim.hardware`. ``verilog`` writes the machine around a block, ``build`` makes and keeps the
extension, ``lanes`` and ``dataflow`` turn one block's C++ into code for many blocks at once. The C++ files beside them are its
source: ``mesh.h`` the hardware, ``requests`` what processors ask for, ``run`` the loop, ``module`` the Python side.
"""
