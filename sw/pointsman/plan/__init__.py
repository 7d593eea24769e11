"""The planner: a program becomes phases with implementations, routes and ends; the quickest of several divisions is kept.

A Program comes in (`pointsman.program`), a `Plan` goes out, from which ``targets`` make images. Start at ``make_plan``.
The way of a program through the rooms (Metcalf 1997, chapters 5 and 6):

1. ``analysis``: facts about the program before anything is decided, from ``structure`` (extents, places where phases may end,
   which phase may follow which) and ``cost`` (which implementations can do an operator, estimated cycles of phases).
2. ``candidates``: divisions into phases and schedule lengths, the quickest by estimates first; nothing is routed.
3. ``phases``: each phase of a candidate is routed and closed; ``continuing`` routes operators that go on over changes of phase,
   ``roles`` says what each node does in an operator, ``termination`` how a phase may end.
4. ``conflicts``: phases whose words could meet on a wire are kept apart; ``membership``: every node can tell when a phase runs;
   ``memory``: what the routers' memories and interface registers hold.
5. ``timeline``: the plan is played, to tell how many cycles the slowest node takes.
"""
