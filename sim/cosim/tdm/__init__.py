"""The time-multiplexed switch: a naive model of it, cycle by cycle."""
