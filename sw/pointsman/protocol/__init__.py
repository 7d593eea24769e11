"""What a node's processor does to load operators and to enter and leave phases, once for the run time and for predictions.

`phase_change` gives the steps in their order, as values: the run time (``runtime.numesh.router``) carries them out, the timeline
(``plan.timeline``) counts their cycles. `residency` has the marks of what a router's memories hold, `costs` the cycles of steps.
The judge (``verify``) does not see this room: it has its own arithmetic. Source: Metcalf 1997, §5.2 to §5.4, §8.3.
"""
