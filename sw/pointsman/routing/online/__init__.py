"""Messages whose ends are known at run time only: which channels between nodes they need, and slots for these.

In come the pairs of nodes between which messages may go; out come channels (streams with given paths) and, with the other streams
of the phase, a ``RoutedPhase`` (Metcalf 1997, §4.2). Start reading at ``channels``; ``overlays`` are other sets of channels,
``frames`` gives every channel a slot in every frame, and ``frame_slots`` fills the slots that are left, by the compiled searches
of ``slot_kernels``.
"""
