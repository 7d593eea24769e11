"""Networks of packet routers in simulation: hardware for the compiled engine, a cycle model, traffic, sessions.

``session`` runs an application; the RTL is compared with ``model``; ``traffic`` and
``messages`` make load without programs.
"""
