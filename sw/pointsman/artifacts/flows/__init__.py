"""Flows between named tasks, to be placed on a network: their values and their file, the problem of ``pointsman place``."""
