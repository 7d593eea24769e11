"""Implementations of operators as streams that the compiler routes: a module for each way of doing a kind of operator.

Takes an operator and a network; gives streams, and what each node writes, reads and rewrites (`pointsman.operators.api`). The
trees and snakes on which the streams lie are chosen in `pointsman.operators.trees`. Leaves alone: routing, and which
implementation is taken (`pointsman.plan`). Source: Metcalf 1997, §4.1 and B.1, whose names the implementations have
(``str_bcast``, ``sch_prefix``).

There are more modules than in other folders because most kinds of operators can be done in several ways. By kind of operator:

- broadcast: ``broadcast`` (multicast, snakes both ways, cycle, flood fill), ``broadcast_variants`` (read back, tree, a path per
  source)
- node to node: ``stream``, ``stream_linear`` (both ends chosen at run time), ``stream_dynamic`` (only the source knows the end)
- node to many, many to node: ``collect``, ``hop_by_hop`` (also streams), ``fan_and_chain`` (spread, gather, seqread, seqwrite)
- every node to another: ``shift`` (and permute), ``permute_runtime`` (schedules made at run time)
- combining: ``reduce`` (also allreduce and prefix), ``prefix_linear``, ``prefix_subphases``
- barrier: ``barrier`` (by processors), ``barrier_gates`` (in the router)
- of several kinds: ``synchronised`` (load functions with a barrier), ``schedules_per_value``, ``streams_per_value``,
  ``replacements`` (operators done by sequences of other operators)
"""
