"""What a program looks like: extents of its operators, places where phases may end, and the graph of phases made of them.

``extents`` rewrites the program as a tree with disjoint groups, ``phase_tree`` folds the tree into phases,
``structure`` holds the phases and their order, ``phase_graph`` walks over that order, ``threads`` tells the way of each
node where nodes have different phases, ``certainty`` which nodes surely use a phase, ``beside`` the operators that may
continue over a change of phase. A Program comes in, a `Structure` goes out; nothing here knows of routes. Start at
``structure`` (Metcalf 1997, §6.1, §6.2.2).
"""
