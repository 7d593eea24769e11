"""The reference machine: a COP program run by the meaning of its operators, without any network.

Messages go from function to function at once and wait there as long as need be. So what a program does here is what
it must do on every target; if it cannot go on here, it can nowhere, and if messages are left over, some target may be
unable to finish it. Values that should agree, and do not, are found; of one that is ``:distributed`` or ``:dynamic`` a node may
give what it knows. Computing takes its cycles, words take none.

Takes a Program and what each node does. Source of the meanings: Metcalf 1997, A.1; ours where that is silent: a
combining operator takes the messages in the order of the subset, collect in the order in which they were written here,
seqread and seqwrite in the order of the chain.

Begin with `machine`; `meaning` says who sends to whom in each kind of operator, `mailbox` holds the messages that are under way,
`port` is an operator at one node.
"""

from .machine import DryRun, ReferenceMachine
from .meaning import signature_of_operator

__all__ = ["DryRun", "ReferenceMachine", "signature_of_operator"]
