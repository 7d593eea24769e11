"""What can happen to words while a processor stands still: a game with tokens that tells which nodes can leave a phase.

Takes VFSMs, registers and lanes of a phase; gives the nodes that get through, and the number of words still under way.
Start at ``board``; ``moves`` is its compiled part, and ``phase_games`` plays all games of a phase. The rules that
follow are in ``phases``.
"""
