"""What the nodes' memories hold: blocks of the schedule memory, VFSMs and interface registers, and what is loaded again.

``residency_plan`` and ``schedule_blocks`` treat the router's memories as a cache, ``vfsm_numbers`` gives VFSMs their numbers,
``kept_registers`` says which phases keep registers to themselves, ``capacity`` refuses a plan that no node can hold, ``misses``
predicts how often a phase is loaded. Planned phases and their order come in. Start at ``capacity`` (Metcalf 1997, §5.4).
"""
