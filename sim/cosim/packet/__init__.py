"""Networks of packet routers in simulation: hardware for the compiled engine, a cycle model, traffic, sessions.

``session`` runs an application; ``model`` is what the RTL is held against; ``traffic`` and
``messages`` make load without programs.
"""
