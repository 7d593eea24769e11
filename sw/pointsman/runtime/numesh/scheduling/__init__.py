"""Schedules made at run time for shifts and permutations: a stream from each node to its partner (Metcalf 1997, §4.1.1,
"Run-Time Operator-Specific Scheduling").

From the same values every node works out the same schedule for all nodes of its instance and puts its own part into its router.
The compiler prepares a phase with placeholder streams from each node to the next in the subset: they reserve interface registers,
and the streams made here replace them. Everything else in the phase, such as barriers, stays in its slots.

This serves general run-time scheduling too (§4.1.1, "General Run-Time Scheduling"): where ``:impl`` asks for it in a phase with
other operators, their slots, links, registers and VFSMs are fixed as well, in every state that load functions give them, and
their words wait in the routers while a node loads its new part. Only free slots are used: cap the other operators with ``:b``.

Where slots are lacking, the placeholder streams stay: they are a ring through the instance, on which processors pass messages
on from node to node (`made.Schedule.hops`). That is slow, needs nothing that the compiler has not proved, and all nodes see
alike that they have to do so.

`made` makes a schedule, `free_slots` finds its slots, `standing` is what stands in the phase already. Paths cross the
dimensions one after the other, without delays; the longest paths are placed first. Non-goals: several operators that make
schedules in the same phase, faults.
"""
