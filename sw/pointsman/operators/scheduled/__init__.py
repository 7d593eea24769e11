"""Implementations of operators as streams that the compiler routes: one module for each way of doing a kind of operator.

Takes an operator and a network; gives streams, and what each node writes, reads and rewrites (`pointsman.operators.api`). The
trees and snakes on which the streams lie are chosen in `pointsman.operators.trees`. Leaves alone: routing, and which
implementation is taken (`pointsman.plan`). Source: Metcalf 1997, §4.1 and B.1, whose names the implementations have
(``str_bcast``, ``sch_prefix``).

There are more modules than in other folders, as there are so many ways; no folder of two or three of them would help to find one.
By kind of operator:

- broadcast: ``broadcast`` (multicast, snakes both ways, flood fill), ``broadcast_variants`` (read back, tree, a path a source)
- one node to another: ``stream``, ``stream_linear`` (both ends at run time), ``stream_dynamic`` (the source alone knows)
- many to one and one to many: ``collect``, ``hop_by_hop`` (also streams), ``fan_and_chain`` (spread, gather, seqread, seqwrite)
- all to all others: ``shift`` (and permute), ``permute_runtime`` (schedules made at run time)
- combining: ``reduce`` (allreduce and prefix, too), ``prefix_linear``, ``prefix_subphases``
- barrier: ``barrier`` (by processors), ``barrier_gates`` (in the router)
- of several kinds: ``synchronised`` (load functions that meet), ``schedules_per_value``, ``streams_per_value``, ``replacements``
  (operators done by others)
"""
