"""Phases whose words could meet on a link in one slot: who proves that they do not, and what is done where they could.

``collisions`` finds such pairs of phases, ``happens_before`` proves that a node has left the one when words of the other come,
``reroute`` moves a phase to other slots, ``freed_links`` says which slots it may use all the same, ``thread_barriers`` who may
wait for whom in a barrier. Planned phases come in; pairs of phases and links go out. Start at ``collisions``
(Metcalf 1997, §5.3).
"""
