"""The reference machine: a COP program run by the meaning of its operators, without any network.

Messages arrive at once and wait, in unlimited number, until they are read. A program's results here are those that every
target must give; a program that deadlocks here deadlocks everywhere, and if messages are left unread, some target may be
unable to finish it. Run-time values that differ between nodes are refused; of a ``:distributed`` or ``:dynamic`` value each node
gives the part that it knows. Computing takes its cycles, words take none.

Takes a Program and the programs of the nodes. Meanings are those of Metcalf 1997, A.1. Where it leaves the order open: a
combining operator takes the messages in the order of the subset, collect in the order in which they were written here,
seqread and seqwrite in the order of the chain.

Begin with `machine`; `meaning` gives senders and receivers for each kind of operator, `mailbox` holds messages not yet read,
`port` is an operator at a node.
"""

from .machine import DryRun, ReferenceMachine
from .meaning import signature_of_operator

__all__ = ["DryRun", "ReferenceMachine", "signature_of_operator"]
