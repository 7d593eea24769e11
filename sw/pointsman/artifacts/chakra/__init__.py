"""Chakra execution traces, a file a rank: read as flows, and written of algorithms."""
