"""Connections to be made, configurations that answer them, and their JSON file: problem and answer of ``pointsman configure``."""
