"""The time-multiplexed switch in simulation: its machine, a naive model of every cycle, a fast one for long traffic.

``session`` runs an application with its connection tables on a machine of ``model``. ``scheduler_model``, ``switch_model`` and
``station_model`` are what the RTL is held against; ``fast``, ``traffic`` and ``baselines`` measure patterns on 128 ports.
"""
