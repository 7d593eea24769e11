"""A node's processor on the mesh of scheduled routers: load functions, I/O functions, changes of phase, online messages.

Takes images. Begin with `substrate`, a node and its phases; `router` is the node's view of its own router, `residency` what that
holds; `port` is an operator, `chosen` one with several schedules, `online_port` one whose messages processors pass on, which
`online_agent` serves by interrupts. `scheduling` makes schedules for values that are known at run time only.
"""
