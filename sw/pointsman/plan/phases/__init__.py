"""The phases of one division are planned: routed, closed, and kept off each other's wires.

Comes in: a `PlanContext` (a division into phases, a schedule length). Goes out: a `Plan`, or why there is none. A phase goes
through `routes` (its streams get slots), `drafts` (which implementations do its operators) and `closing` (by which technique it
ends); `phase_set` has all phases together: rerouted, joined by barriers, settled. What they have to regard of each other is in
`constraints`, a value that each step takes and gives back changed. `candidate`, where reading may start, does the whole.
Source: Metcalf 1997, §5.2–5.3, §6.2.
"""
