"""Benches of the bridges to hosts, driven by other people's masters of each bus."""
