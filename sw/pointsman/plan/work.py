"""How much work a plan may take, counted in streams: the same on every machine and under every load."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from pointsman.routing.errors import RoutingError


class OutOfWorkError(RoutingError):
    """The work of a plan is used up. As everything that is tried from then on is refused, planning soon ends."""


@dataclass
class Work:
    """Work that is done and that may be done.

    Parameters
    ----------
    most : float
        Most streams that are drafted, counted each time that they are, those that are routed several times; infinite: as many as
        needed.
    done : int
        How many have been.
    """

    most: float = inf
    done: int = 0

    def spend(self, streams: int) -> None:
        """Note that ``streams`` are drafted; OutOfWorkError if these are too many."""
        if self.done + streams > self.most:
            raise OutOfWorkError(f"more than {self.most:.0f} streams would have to be routed")
        self.done += streams
