"""Which divisions into phases are worth routing: the search for the places where phases end, by estimates.

``candidates`` puts together replaced operators (``replacements``), divisions (``divisions``, with the searches
``dynamic_program`` and ``branch_and_bound``, which walk along ``walk``), a schedule for each run-time value
(``value_schedules``) and schedule lengths. A `ProgramAnalysis` comes in, `Candidates` go out, the most promising first.
Start at ``candidates`` (Metcalf 1997, §6.2.1, §6.2.4).
"""
