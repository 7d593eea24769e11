"""Hardware simulated to the cycle, with a program on every processor; also the test benches and the proofs of the RTL.

``machine`` is what programs run on, whatever the hardware and the engine; ``session`` runs an application on it; ``record`` is
what a run leaves; ``deadlock`` says why nobody goes on. ``hardware`` describes any hardware to the compiled engine. A folder for
each kind of hardware has its machine, its cycle model and its session: ``numesh``, ``tdm``, ``packet``.
"""
