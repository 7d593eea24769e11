"""Phased connections on logical channels: problem and answer of ``pointsman channels``, with their JSON files."""
