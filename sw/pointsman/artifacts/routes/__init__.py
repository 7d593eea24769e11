"""Streams to be routed, the routes and slots that answer them, and their JSON file: problem and answer of ``pointsman route``."""
