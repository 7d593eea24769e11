"""How many cycles a routed plan will take: its program played on its own routes, by sampled rounds, cycle by cycle.

Takes a plan with routes, gives the cycles of each phase and of the program (`timeline`), or of a call (`one_call`).
`sampling` chooses the rounds, `steps` writes what each processor does, `memories` what routers hold
meanwhile, `board` numbers VFSMs and registers, `kernel` plays. The run time's steps come from ``protocol``.
"""
