"""What may be asked of a router of whole networks, the same for all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from pointsman.artifacts.routes.routes import RoutedWords


@dataclass(frozen=True)
class RouteOptions:
    """How to route.

    Parameters
    ----------
    length : int, optional
        The period in slots; the router chooses it when it is not given.
    seed : int
        Of the random numbers that break ties. Same problem, options and seed: same answer, on any machine.
    effort : float
        Work to spend, relative to the usual.
    time_limit : float, optional
        Seconds after which the best answer so far is taken (or, if there is none yet, the first that comes). With a limit the
        answer may depend on the machine's speed.
    progress : bool
        Show what is being tried on a terminal.
    bounds : bool
        Compute the bounds beside the answer; without, only those that the router needs itself.
    """

    length: int | None = None
    seed: int = 0
    effort: float = 1.0
    time_limit: float | None = None
    progress: bool = False
    bounds: bool = True


@dataclass(frozen=True)
class RouteConstraints:
    """What routes of the node must keep beside its rules.

    Parameters
    ----------
    cost : callable, optional
        Price of (node, pipeline, slot), beside what use makes of it: 0 is good, larger is worse, infinity forbids it
        (Metcalf 1997, §6.3.1). 1 is as much as another hop. Needs a length.
    keep_in : mapping
        Nodes that a stream may use, by its index (partitions); others may use all.
    pinned : mapping
        Words of streams, by index, that stay in their pipelines and slots (continuing operators), from an earlier result
        with the same length. VFSM numbers may change.
    """

    cost: Callable[[int, int, int], float] | None = None
    keep_in: Mapping[int, Collection[int]] = field(default_factory=dict)
    pinned: Mapping[int, RoutedWords] = field(default_factory=dict)


USUAL = RouteOptions()
FREE = RouteConstraints()
