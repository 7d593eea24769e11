"""Collectives in the ideal model: broadcast, all-gather, reductions and their kin, by construction where one meets the bound.

Start reading at ``router.route_collective``. ``rooted`` has what goes along one tree, ``around`` what goes round a cycle of
nodes,
``packing`` puts trees of any shape into slots; ``cycles`` and ``trees`` find these in a network. ``bounds`` says what nobody
can beat.
Reductions are the others run backwards. Nothing here checks an answer: ``pointsman.verify.collectives`` does.
"""
