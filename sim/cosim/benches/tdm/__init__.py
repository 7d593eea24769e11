"""Benches of the switch: scheduler arrays, the scheduler, a whole switch, and compiled connection tables on it."""
