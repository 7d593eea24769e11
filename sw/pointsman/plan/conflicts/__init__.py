"""Phases whose words could meet on the same link and slot: proofs that they do not, and remedies where they could.

``collisions`` finds such pairs of phases, ``happens_before`` proves that a node has left the earlier when words of the
later come, ``reroute`` moves a phase to other slots, ``freed_links`` says which slots it may use all the same,
``thread_barriers`` which nodes may wait for each other in a barrier. Planned phases come in; pairs of phases and links
go out. Start at ``collisions`` (Metcalf 1997, §5.3).
"""
