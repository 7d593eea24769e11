"""Marked graphs as arrays: the compiled part of ``progress``."""
