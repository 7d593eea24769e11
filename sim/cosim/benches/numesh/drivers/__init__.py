"""Drivers of a node's inputs: random programs for its memories, timetables, processors that serve requests."""
