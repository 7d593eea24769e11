"""A node's processor on the mesh of scheduled routers: load functions, I/O functions, changes of phase, online messages.

Takes images. Begin with `substrate`, a node and its phases; `router` is the node's view of its own router, `residency` says which
phases that holds; `port` is an operator, `chosen` an operator with several schedules, `online_port` an operator whose messages
processors pass on, with `online_agent` as interrupt handler; `messages` says which words of a call's messages its lanes move,
`signatures` what applications see of operators. `scheduling` makes schedules for values known only at run time. There are more
modules than elsewhere, as a processor does many small things.
"""
