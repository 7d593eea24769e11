"""Words followed from processor to processor: each reaches each of its destinations once, in order, at the promised rate.

Start at ``trace`` (a stream for a choice of run-time values); ``streams`` has all streams and values of a phase.
Commands to other routers and messages that processors pass on have their own modules. Metcalf 1997, §6.3.1, §7.1.1.
"""
