"""The time-multiplexed switch in simulation: its machine, a naive model of every cycle, a fast model for long traffic.

``session`` runs an application with its connection tables on a machine of ``model``. The RTL is compared with
``scheduler_model``, ``switch_model`` and ``station_model``; ``fast``, ``traffic``, ``baselines`` measure patterns on 128 ports.
"""
