"""Does every node know when a phase runs in which it has a part: which nodes leave a phase when, and which plans are refused.

``leaving`` finds nodes that leave a phase which a barrier closes without going on to another, ``passages`` the phases that a node
passes without an operator of its own; ``transit`` and ``schedule_choice`` refuse plans in which a node would have to guess.
Planned phases and their order come in. Start at ``leaving`` (Metcalf 1997, §5.2.2, §5.5.2).
"""
