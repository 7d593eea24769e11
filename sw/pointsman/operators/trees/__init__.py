"""Trees, snakes and flood fills over the nodes of a subset: the paths on which operators send their words.

Takes nodes in their order and a topology; gives links or parents. Leaves alone: which streams and messages an operator makes of
them (`pointsman.operators.scheduled`, `pointsman.operators.messages`).

- ``multicast_trees``: trees with few moves of a word at each node, and snakes; here a broadcast's tree is chosen.
- ``reduction_trees``: trees that keep the order of the subset (Metcalf 1997, B.2), for reduce, prefix and collect.
- ``in_order_tree``: trees over positions, without regard to distances, for operators by messages.
- ``cycles``: cycles through all nodes of a subset.
- ``flood_fill``: parent and children of a node in a flood fill, dimension by dimension from a source.
- ``hops``: for each node, the next node on the way to a destination.
"""
