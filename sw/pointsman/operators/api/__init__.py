"""Interface of operator implementations: their parts, how calls are loaded, operands, and registers of lanes (``wiring``).

Begin with ``implementation`` (Metcalf 1997, Table 4.1) and ``loading``. An implementation takes an operator (`operands` reads its
calls) and a context, and gives streams to route; of the routed streams (`wiring`) it gives the roles of nodes (`roles`, written
down step by step with `role_script` where processors combine messages). ``registry`` finds implementations of users, ``cached``
asks each implementation only once.
"""
