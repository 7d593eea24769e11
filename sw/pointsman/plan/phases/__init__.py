"""The phases of a division are planned: routed, closed by a barrier or without, and kept off each other's wires.

Comes in: a `PlanContext` (a division into phases, a schedule length). Goes out: a `Plan`, or why there is none. A phase
goes through `routes` (its streams get slots), `drafts` (which implementations do its operators) and `closing` (by which
technique it ends); `phase_set` plans all phases together and again where they conflict. The constraints that phases put
on each other are in `constraints`, a value that each step takes and gives back changed. `candidate`, where reading may
start, does the whole. Source: Metcalf 1997, §5.2–5.3, §6.2.
"""
