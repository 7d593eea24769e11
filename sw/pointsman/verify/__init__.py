"""The judge: proves schedules, connection tables, configurations and routes right, knowing nothing of how they were made.

Artifacts made for a user are judged before the user gets them. There are four judges, each working from the artifact
alone:

* ``images.check_images``: images of the NuMesh node, that is schedules, annotations, roles and promises.
* ``tables.check_tables``: connection tables of the TDM switch.
* ``configurations.check_configurations`` and ``check_timetable``: connection sets and demands divided into configurations.
* ``routes.check_ideal``: routes in the ideal model. Routes of the NuMesh node are judged as images.

May see artifacts, the shapes of the hardware, programs and networks, and nothing of routers, planner, targets and run time: a
fault that these share with the judge would stay unseen. So the judge has its own arithmetic, its own game of words
(``stall_game``) and its own graph of phases, on purpose.

Start at ``images``; the rules with their laws, sections of the source, and the modules that prove each are
``report.RULES``. The rooms build on each other: ``node`` (a node in a phase), ``words`` (streams over nodes),
``stall_game`` (words while a processor stands still), ``phases`` (how a phase ends; links, registers and VFSMs used
again in another phase). ``structure`` is checked first, as all other rules rely on it.
"""
