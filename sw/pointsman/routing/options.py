"""Options and constraints of `pointsman route`'s routers, the same for all of them."""

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
        Seed of the random numbers that break ties. Same problem, options and seed: same answer, on any machine.
    effort : float
        Work to spend, as a multiple of the default.
    time_limit : float, optional
        Seconds after which the best answer so far is taken (if there is none yet, the first answer found). With a limit the
        answer may depend on the machine's speed.
    progress : bool
        Show what is being tried on a terminal.
    bounds : bool
        Compute all bounds beside the answer; False: only those that the router itself needs.
    """

    length: int | None = None
    seed: int = 0
    effort: float = 1.0
    time_limit: float | None = None
    progress: bool = False
    bounds: bool = True


@dataclass(frozen=True)
class RouteConstraints:
    """Constraints on routes besides the rules of the node.

    Parameters
    ----------
    cost : callable, optional
        Price of (node, pipeline, slot), added to the price of congestion: 0 is free, 1 costs as much as a hop, infinity forbids
        the slot (Metcalf 1997, §6.3.1). Needs a length.
    keep_in : mapping
        Nodes that a stream may use, by the stream's index (partitions); streams not in it may use all nodes.
    pinned : mapping
        Words of streams, by index, that stay in their pipelines and slots (continuing operators), from an earlier result
        with the same length. VFSM numbers may change.
    """

    cost: Callable[[int, int, int], float] | None = None
    keep_in: Mapping[int, Collection[int]] = field(default_factory=dict)
    pinned: Mapping[int, RoutedWords] = field(default_factory=dict)


USUAL = RouteOptions()
FREE = RouteConstraints()
