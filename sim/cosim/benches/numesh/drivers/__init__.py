"""What benches send into a node: random programs for its memories, timetables, processors that serve requests."""
