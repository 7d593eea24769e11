"""Where a message may go next, as a pure function; RTL, cycle model and the proof of freedom from deadlock agree with it.

Dimension order sends along x first. On a torus the shorter way round is taken (up, in a tie), on channel 0 as long as the link
that closes the ring lies ahead, then on channel 1.

Adaptive routing may use any shortest way on the channels above these, the dimension with most hops left first. Such a channel is
given to a message only when it is *empty*. A message that finds none takes the channel in dimension order, and may go
back to the others later. So a message at the front of any buffer can always wait for a channel in dimension order, and these
depend on each other without a cycle (Duato 1993; the test builds the graph).
"""

from __future__ import annotations

from dataclasses import dataclass

from .shape import RouterShape


@dataclass(frozen=True)
class Ways:
    """Ways on from a node. ``escape`` is (port, channel); ``adaptive`` ports in order of preference, on any channel that
    is not for escape."""

    escape: tuple[int, int]
    adaptive: tuple[int, ...]


def ways(shape: RouterShape, here: tuple[int, ...], there: tuple[int, ...]) -> Ways | None:
    """Ways from ``here`` to ``there``; None on arrival."""
    escape = None
    left = []
    for dimension, (at, to, extent) in enumerate(zip(here, there, shape.size, strict=True)):
        if at == to:
            continue
        hops = abs(to - at)
        up = to > at
        if shape.torus:
            hops = (to - at) % extent
            up = 2 * hops <= extent
            hops = min(hops, extent - hops)
        port = 2 * dimension + up
        if escape is None:
            closes = (to < at) if up else (to > at)
            escape = (port, 0 if closes or not shape.torus else 1)
        left.append((-hops, dimension, port))
    if escape is None:
        return None
    adaptive = tuple(port for _, _, port in sorted(left)) if shape.routing == "adaptive" else ()
    return Ways(escape, adaptive)
