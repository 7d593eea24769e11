"""Online streams in frames: every channel of a phase gets a slot every few slots, as evenly as possible.

Online messages need channels to all neighbours at once, and a word waits for its channel's slot at every hop, so even gaps
between slots matter as much as their number. Takes the streams of a phase, among them channels with given paths, and gives a
``RoutedPhase``; None where frames do not apply and ``phase_router`` has to be used.

Method: a node sends in pipeline 0 and receives in pipeline 1, so deliveries do not hinder injections. Channels that need the same
VFSM slot or the same link get different colours. If all channels go to neighbours, as many colours as the busiest node has
channels are enough (König 1916); for longer channels, frames of increasing length are tried. A frame has a slot for each colour,
and frames fill the period. Words that collide with the other streams of the phase, which are routed before, are left out; then
channels with too small a share get words from channels with more, and words move to make gaps more even (``frame_slots``).

If frames are so short that a processor could not read a word before the next word needs its register, channels get two VFSMs
at either end, each with a register of its own, that take turns, as long as there are registers.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain as joined

import numpy as np

from numesh.codes import FIRST_FREE_VFSM
from numesh.shape import NodeShape
from pointsman.network import Topology
from pointsman.routing.phase_router.router import route_phase
from pointsman.routing.streams import Place, RoutedChain, RoutedPhase, RoutedVfsm, Stream

from .frame_slots import LEAST_FRAME, RECEIVE, SEND, Filling, Line, lines_of

ODD = 20
"""A channel with an odd number of slots may have two registers (with unequal numbers of slots) only if it has more than this."""
ORDERS = 4
"""Random orders in which channels over several hops choose colours, for each length of a frame."""
EVICTIONS = 12
"""Most choices of a colour in each order, per channel on average."""
ALTERNATING = 4
"""In frames shorter than this many slots channels have two registers: a processor that writes in the cycle in which it should
read would be too late for the next word."""


def coloured(ends: Sequence[tuple[int, int]]) -> list[int]:
    """A colour for each edge (source, target), such that edges with a common source, or a common target, differ.

    Uses as many colours as the largest number of edges at a source or target; O(edges × nodes).
    """
    sides: tuple[dict[int, dict[int, int]], dict[int, dict[int, int]]] = (defaultdict(dict), defaultdict(dict))
    colours = [0] * len(ends)
    for edge, (source, target) in enumerate(ends):
        a, b = _lowest_free(sides[0][source]), _lowest_free(sides[1][target])
        if a != b:
            # Swap colours a and b along the path that begins at the target with a; the path cannot end at the source.
            path, side, node, colour = [], 1, target, a
            while colour in sides[side][node]:
                found = sides[side][node][colour]
                path.append(found)
                side = 1 - side
                node = ends[found][side]
                colour = a + b - colour
            for found in path:
                for side in (0, 1):
                    del sides[side][ends[found][side]][colours[found]]
            for found in path:
                colours[found] = a + b - colours[found]
                for side in (0, 1):
                    sides[side][ends[found][side]][colours[found]] = found
        colours[edge] = a
        sides[0][source][a] = sides[1][target][a] = edge
    return colours


def coloured_lines(lines: Sequence[Line]) -> list[int]:
    """A colour for each channel, also over several hops: colour c sends in slot c of each frame, and no two channels use the same
    cell. The frame is the shortest for which one of ORDERS orders, longest lines first, succeeds.
    """
    need: dict[tuple[int, int], int] = defaultdict(int)
    for line in lines:
        for node, kind, _ in line.cells:
            need[node, kind] += 1
    rng = np.random.default_rng(0)
    frame = max(need.values())
    while True:
        for _ in range(ORDERS):
            colours = _coloured_in(
                sorted(rng.permutation(len(lines)).tolist(), key=lambda k: -len(lines[k].cells)), lines, frame
            )
            if colours is not None:
                return colours
        frame += 1


def _coloured_in(order: Sequence[int], lines: Sequence[Line], frame: int) -> list[int] | None:
    """Colours for frames of ``frame`` slots, chosen channel by channel in ``order``; None if that fails. A channel that finds no
    free colour evicts the fewest channels possible, which then choose again."""
    taken: dict[tuple[int, int, int], int] = {}
    colours = [-1] * len(lines)
    waiting = deque(order)
    for _ in range(EVICTIONS * len(lines)):
        if not waiting:
            return colours
        k = waiting.popleft()
        best: tuple[int, int, list[tuple[int, int, int]]] | None = None
        for colour in range(frame):
            cells = [(node, kind, (at + colour) % frame) for node, kind, at in lines[k].cells]
            if len(set(cells)) < len(cells):
                return None
            losers = len({taken[cell] for cell in cells if cell in taken})
            if best is None or losers < best[0]:
                best = losers, colour, cells
            if not losers:
                break
        assert best is not None
        for cell in best[2]:
            loser = taken.get(cell, -1)
            if loser >= 0:
                for node, kind, at in lines[loser].cells:
                    del taken[node, kind, (at + colours[loser]) % frame]
                colours[loser] = -1
                waiting.append(loser)
            taken[cell] = k
        colours[k] = best[1]
    return None


def _lowest_free(used: Collection[int]) -> int:
    return next(colour for colour in range(len(used) + 1) if colour not in used)


def _colours(ends: Sequence[tuple[int, int]], lines: Sequence[Line]) -> list[int]:
    return coloured(ends) if all(len(line.nodes) == 2 for line in lines) else coloured_lines(lines)


def frame_length(channels: Sequence[Stream], topology: Topology) -> int:
    """Slots per frame that these channels, which have given paths, need."""
    ends = [(stream.source, stream.destinations[0]) for stream in channels]
    return max(LEAST_FRAME, 1 + max(_colours(ends, lines_of(channels, topology)), default=0))


def route_frames(
    streams: Sequence[Stream], hops: range, topology: Topology, shape: NodeShape, *, period: int, seed: int = 0
) -> RoutedPhase | None:
    """Route a phase some of whose streams are online channels.

    Parameters
    ----------
    hops : range
        Indices of these channels among ``streams``; they get slots in frames.

    Returns
    -------
    RoutedPhase or None
        None if some channel has no path, if there are too few pipelines, VFSMs or interface registers, if some channel gets no
        word, or with an aliased handshake: in a frame a link carries words both ways in a slot.

    Raises
    ------
    RoutingError
        If the other streams alone cannot be routed.
    """
    channels = [streams[i] for i in hops]
    if not channels or shape.pipelines < 2 or shape.aliased_handshake:
        return None
    if any(s.path is None or len(s.path) < 2 for s in channels):
        return None
    ends = [(stream.source, stream.destinations[0]) for stream in channels]
    lines = lines_of(channels, topology)
    colours = _colours(ends, lines)
    frame = max(LEAST_FRAME, max(colours) + 1)
    others = [i for i in range(len(streams)) if i not in hops]
    rest = sorted_out(route_phase([streams[i] for i in others], topology, shape, period=period, seed=seed))
    if min(_room(rest, ends, shape)) < 0 or _most_vfsms(rest, lines) >= shape.vfsms:
        return None
    best: Filling | None = None
    for offset in range(frame):
        one = Filling(rest, [stream.weight for stream in channels], lines, period)
        if not one.reserve():
            return None
        one.put([range(offset + colour, offset + colour + period // frame * frame, frame) for colour in colours])
        if best is None or one.rank() > best.rank():
            best = one
    assert best is not None
    best.fill()
    if not best.least():
        return None
    best.even_out()
    even = [len(slots) % 2 == 0 or len(slots) > ODD for slots in best.slots]
    doubled = _doubled(rest, ends, even, shape) if frame < ALTERNATING else frozenset()
    own = best.chains(hops.start, doubled)
    if max(best.numbers.values(), default=0) >= shape.vfsms:
        return None
    chains = [RoutedChain(others[one.stream], one.chain, one.vfsms) for one in rest.chains] + own
    chains.sort(key=lambda one: (one.stream, one.chain))
    return RoutedPhase(shape, topology, period, tuple(streams), tuple(chains), rest.seconds)


def _doubled(
    rest: RoutedPhase, ends: Sequence[tuple[int, int]], even: Sequence[bool], shape: NodeShape
) -> frozenset[int]:
    """Channels, of those for which ``even`` is true, that can have a second register at both ends, after each stream has had its
    first register everywhere."""
    room = _room(rest, ends, shape)
    found = set()
    for channel, (u, v) in enumerate(ends):
        if even[channel] and room[u] > 0 and room[v] > 0:
            room[u] -= 1
            room[v] -= 1
            found.add(channel)
    return frozenset(found)


def _room(rest: RoutedPhase, ends: Sequence[tuple[int, int]], shape: NodeShape) -> list[int]:
    """Interface registers that each node has left when each stream has had its first one everywhere; negative where they lack."""
    room = [shape.registers - shape.pipelines] * rest.topology.nodes
    for chain in rest.chains:
        for vfsm in chain.vfsms:
            room[vfsm.node] -= (vfsm.source.kind == "inject") + (vfsm.destination.kind == "deliver")
    for node in joined.from_iterable(ends):
        room[node] -= 1
    return room


def _most_vfsms(rest: RoutedPhase, lines: Sequence[Line]) -> int:
    """The largest number that a VFSM would get."""
    numbers: dict[tuple[int, int], int] = defaultdict(lambda: FIRST_FREE_VFSM - 1)
    for chain in rest.chains:
        for vfsm in chain.vfsms:
            at = vfsm.node, vfsm.pipeline
            numbers[at] = max(numbers[at], vfsm.number)
    for line in lines:
        for at in zip(line.nodes, line.pipelines, strict=True):
            numbers[at] += 1
    return max(numbers.values(), default=0)


def sorted_out(routed: RoutedPhase) -> RoutedPhase:
    """The same phase with VFSMs moved, where there is room: those that inject to pipeline SEND, all others to pipeline RECEIVE.

    In a pipeline a delivery must not come in the slot before an injection; kept apart, they leave more slots to other streams.
    """
    period = routed.period
    holds: dict[tuple[int, int], dict[int, tuple[bool, bool]]] = defaultdict(dict)
    """By node and pipeline: (injects, delivers) of the VFSM at each slot."""
    for chain in routed.chains:
        for vfsm in chain.vfsms:
            holds[vfsm.node, vfsm.pipeline].update(dict.fromkeys(vfsm.slots, _accesses(vfsm)))
    pipelines: dict[tuple[int, int], int] = {}
    for c, chain in enumerate(routed.chains):
        for group in _visits(chain):
            first = chain.vfsms[group[0]]
            wanted = SEND if any(_accesses(chain.vfsms[i])[0] for i in group) else RECEIVE
            cells = {(slot, _accesses(chain.vfsms[i])) for i in group for slot in chain.vfsms[i].slots}
            there = holds[first.node, wanted]
            fits = all(
                slot not in there
                and not (injects and there.get((slot - 1) % period, (False, False))[1])
                and not (delivers and there.get((slot + 1) % period, (False, False))[0])
                for slot, (injects, delivers) in cells
            )
            then = there | dict(cells)
            # A slot must stay free for reprogramming, and must not follow a delivery.
            spare = any(s not in then and not then.get((s - 1) % period, (False, False))[1] for s in range(period))
            if first.pipeline != wanted and fits and spare:
                for slot, accesses in cells:
                    del holds[first.node, first.pipeline][slot]
                    there[slot] = accesses
                pipelines.update(((c, i), wanted) for i in group)
    return _renumbered(routed, pipelines)


def _accesses(vfsm: RoutedVfsm) -> tuple[bool, bool]:
    return vfsm.source.kind in ("inject", "register"), vfsm.destination.kind in ("deliver", "register")


def _visits(chain: RoutedChain) -> list[list[int]]:
    """Groups of VFSMs (indices in the chain) that must stay in the same pipeline: all VFSMs of a visit to a node, such as the
    legs of a fork, or a VFSM that fills a buffer and the VFSM that reads it."""
    groups: list[list[int]] = []
    of: dict[int, list[int]] = {}
    for i, vfsm in enumerate(chain.vfsms):
        if vfsm.parent >= 0 and chain.vfsms[vfsm.parent].node == vfsm.node:
            of[i] = of[vfsm.parent]
        else:
            of[i] = []
            groups.append(of[i])
        of[i].append(i)
    return groups


def _renumbered(routed: RoutedPhase, pipelines: Mapping[tuple[int, int], int]) -> RoutedPhase:
    """The phase with VFSMs moved as ``pipelines`` says ((chain, index): pipeline), and all VFSMs renumbered."""
    numbers: dict[tuple[int, int], int] = {}
    chains = []
    for c, chain in enumerate(routed.chains):
        new_of: dict[tuple[int, int, int], int] = {}
        placed = []
        for i, vfsm in enumerate(chain.vfsms):
            pipeline = pipelines.get((c, i), vfsm.pipeline)
            at = vfsm.node, pipeline
            number = numbers[at] = numbers.get(at, FIRST_FREE_VFSM - 1) + 1
            new_of[vfsm.node, vfsm.pipeline, vfsm.number] = number
            placed.append((pipeline, number))
        vfsms = []
        for vfsm, (pipeline, number) in zip(chain.vfsms, placed, strict=True):
            ends = [
                Place("buffer", new_of[vfsm.node, vfsm.pipeline, end.number]) if end.kind == "buffer" else end
                for end in (vfsm.source, vfsm.destination)
            ]
            vfsms.append(vfsm._replace(pipeline=pipeline, number=number, source=ends[0], destination=ends[1]))
        chains.append(replace(chain, vfsms=tuple(vfsms)))
    return replace(routed, chains=tuple(chains))
