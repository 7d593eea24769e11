"""Operators that continue while the phases beside them change: how they are routed, and which slots they get in each phase.

Comes in: operators that the division leaves out of all phases (`Structure.through`). Goes out: their routes, around
which the phases are routed (`routes`), more of their slots in each phase (`slots`), and the phase that each node enters
for them (`operators`, where reading may start). Which operators may continue at all is in
`pointsman.plan.structure.beside`; the planner's order of attempts in `pointsman.plan.phases.candidate`. Source: Metcalf
1997, §5.1.
"""
