"""The RTL, translated to C++ by Verilator and compiled into a Python extension that also resumes the programs.

``engine`` runs any hardware of `cosim.hardware`. ``verilog`` writes the machine around a block, ``build`` makes and keeps the
extension, ``lanes`` turns a block's C++ into code for many blocks at once, ``dataflow`` checks that this is allowed. C++ files of
the extension: ``mesh.h`` the hardware, ``requests`` the processors' requests, ``run`` the loop, ``module`` the Python side.
"""
