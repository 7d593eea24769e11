"""Networks that serve flows without processors: bandwidth and latency guaranteed by the timetable (``pointsman noc``).

``search`` routes flows with the words that they demand, ``timetable`` gives each its slots at the ports of its ends and proves
its bound, ``files`` writes the hardware.
"""
