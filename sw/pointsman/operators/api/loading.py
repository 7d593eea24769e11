"""How routers are prepared for a call of an operator: what load functions, and sometimes I/O functions, do to the schedule."""

from __future__ import annotations

from enum import Enum


class Loading(Enum):
    """How an implementation's calls are loaded (Metcalf 1997, §4.1.1 and §5.1.1).

    Planner, targets and timeline compare with a single member, or ask for `synchronised` or `moves_early`, which several members
    have in common.
    """

    LOCAL = "local"
    """A load function rewrites VFSMs of its own node, if any, without waiting for other nodes: the operator's own words tell it
    that no node still uses the old values (§4.1.1, "Run-Time Specification")."""
    SYNCHRONISED = "synchronised"
    """Load functions meet in a barrier of their own before and after they rewrite VFSMs of their nodes
    (`pointsman.operators.scheduled.synchronised`; §4.1.1, "Run-Time Specification")."""
    LEFT_BETWEEN_USES = "left_between_uses"
    """Load functions rewrite VFSMs of their nodes before they enter the phase. The phase has to be left between two uses with
    different values; its end then takes the place of the barrier (`pointsman.plan.termination.left_between_uses`)."""
    RESCHEDULED = "rescheduled"
    """Load functions meet and work out a schedule of their own, which they load instead of the one that was compiled
    (`pointsman.runtime.numesh.scheduling`; §4.1.1, run-time general scheduling)."""
    REMOTE = "remote"
    """A load function rewrites nothing at its own node: the node that knows the value sends commands to the routers of the
    others (`pointsman.operators.scheduled.stream_dynamic`; §4.1.1, "Dynamic Destination Selection")."""
    GATED = "gated"
    """A load function rewrites nothing. The func function opens a gate of its router, and shuts it when the messages have
    moved (`pointsman.operators.scheduled.barrier_gates`; B.1, str_barrier)."""
    SUBPHASES = "subphases"
    """A load function rewrites nothing. The func function goes to a second schedule of the phase and back
    (`pointsman.operators.scheduled.prefix_subphases`; §4.1.3)."""
    PER_VALUE = "per_value"
    """A load function enters the phase that has the schedule of its run-time value
    (`pointsman.plan.candidates.value_schedules`; §4.1.1, "Multiple Schedules"). The planner gives each value a phase of its
    own, in which the implementation is planned as if the value were constant."""
    ONLINE = "online"
    """A load function does nothing to the router: processors pass on messages over streams to neighbours
    (`pointsman.operators.messages.online`; §4.2). Taken only where no other implementation can do the operator, or where
    ``:impl`` asks for it."""

    @property
    def synchronised(self) -> bool:
        """Do load functions wait until no node uses the old values, in a barrier of their own or at the end of the phase?"""
        return self in (Loading.SYNCHRONISED, Loading.LEFT_BETWEEN_USES, Loading.RESCHEDULED, Loading.REMOTE)

    @property
    def moves_early(self) -> bool:
        """May words move before a node calls an I/O function: words of a load function, or a word that waited at a gate?"""
        return self.synchronised or self is Loading.GATED
