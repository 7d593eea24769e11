"""The mesh of scheduled routers in simulation: its machine, runs of applications, traces, monitors of its links.

Start with ``machine`` (a mesh on one of three engines) and ``session`` (an application with its images on it).
``activities`` and ``trace`` record each node's activities, ``monitors`` checks contracts of links and streams in every cycle,
``lockstep`` compares the engines with each other, ``rings`` makes memories without a compiler, ``hardware`` describes the mesh.
"""
