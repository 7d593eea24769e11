"""What each processor does on its way through the sampled program, as steps for ``timeline.kernel``.

`writer` goes through the program (`StepWriter`), `operator_calls` has the steps of load and I/O functions, `phase_changes` those
between phases, `online_messages` those of messages that processors pass on, `runtime_schedules` what schedules made at run time
take, `together` what a node does at the same time. `processor_state` is where a node stands, `tables` what the kernel plays.
"""
