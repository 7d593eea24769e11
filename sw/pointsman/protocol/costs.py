"""What steps of the run time cost a processor, in cycles."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Costs:
    """Cycles of the agent beside its accesses, each of which takes one (Metcalf 1997, §8.3.3 gives only their sum).

    ``interrupt``: from a channel's call to the first instruction of the handler, and back. ``poll``: the same from a
    function of the run time that waits, and looks at the channels as it looks at its own register. ``lookup``: taking a
    header apart, finding the next hop; then the header goes on. ``buffer``: allocating a buffer and setting up the block
    moves. ``turn``: from the end of a message that was passed on to the next one of its channel. ``patience``: how long a
    handler that has a message half in stays for its next word while the program waits for something; while it computes, no
    longer than an interrupt takes, as going back and being called again would cost that much.
    """

    interrupt: int = 8
    poll: int = 2
    lookup: int = 2
    buffer: int = 2
    turn: int = 1
    patience: int = 24
