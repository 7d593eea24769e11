"""What can happen to words while a processor stands still: a game with tokens, which tells who can leave a phase and who cannot.

Takes VFSMs, registers and lanes of a phase; gives who gets through, and how many words are still on their way. Start at
``board``; ``moves`` is its compiled part, and ``phase_games`` plays all games of a phase. The rules that follow are in
``phases``.
"""
