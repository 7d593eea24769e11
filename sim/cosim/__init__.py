"""Hardware simulated to the cycle, with a program on every processor; also the test benches and the proofs of the RTL.

``machine`` runs programs on any hardware and engine; ``session`` runs an application on it; ``record`` has the results of a
run; ``deadlock`` explains why no processor goes on. ``hardware`` describes any hardware to the compiled engine. A folder for
each kind of hardware has its machine, its cycle model and its session: ``numesh``, ``tdm``, ``packet``.
"""
