"""Benches of packet networks: random messages between all nodes, in dimension order and adaptive."""
