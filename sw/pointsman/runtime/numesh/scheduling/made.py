"""A schedule for the moves of a shift or a permutation, made by every node alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from numesh.codes import Annotation, MoveType
from pointsman.artifacts.images.images import SYNC, Images, NodePhase, Promise, Rewrite
from pointsman.protocol.scheduling import CYCLES_A_STREAM, CYCLES_A_TEST, Moves, moves_of

from .free_slots import FreeSlots, Hop
from .standing import Standing, placeholder

ORDERS = 8
"""Orders of streams that are tried."""


@dataclass(frozen=True)
class Schedule:
    """A schedule for an instance.

    ``parts`` by node; ``promises`` of the streams; ``cycles`` that a processor needs to compute it. ``hops``: 0, or, if no
    slots were found, over how many nodes messages have to be passed on; parts are those that the compiler made then.
    """

    parts: Mapping[int, NodePhase]
    promises: tuple[Promise, ...]
    cycles: int
    hops: int = 0


def schedule_moves(images: Images, operator: int, instance: int, moves: Moves) -> Schedule:
    """Schedule ``moves`` in the phase of ``operator``, each node the source and the destination of at most one of them.

    Complexity: O(moves · path · pipelines) looks at masks of free slots for each word a period, and for each order tried.
    """
    standing = Standing.of(images, operator, instance)
    image = images.operators[operator]
    words = -(-images.period // images.shape.width)
    cycles = 0
    order = sorted(moves, key=lambda move: (-len(next(standing.paths(*move))), move))
    for _ in range(ORDERS):
        free = standing.free.copy()
        streams, failed = _placed(free, standing, order)
        if failed is None:
            _grown(free, list(streams.values()), image.m)
        cycles += free.tests * CYCLES_A_TEST * words + len(streams) * CYCLES_A_STREAM
        if failed is None:
            return Schedule(_parts(standing, streams), _promises(standing, streams), cycles)
        # What found no slots comes first next time.
        order = [failed, *(move for move in order if move != failed)]
    position = {node: k for k, node in enumerate(standing.nodes)}
    hops = max(((position[to] - position[origin]) % len(position) for origin, to in moves), default=0)
    return Schedule(standing.parts, (), cycles, hops)


def scheduled_images(images: Images, operator: int, made: Mapping[int, Schedule]) -> Images:
    """``images`` with the schedules that were made at run time for an operator's instances, for the judge."""
    phase = images.operators[operator].phase
    nodes = list(images.nodes)
    members: set[int] = set()
    streams = [schedule for schedule in made.values() if not schedule.hops]
    for schedule in streams:
        members |= set(schedule.parts)
        for node, part in schedule.parts.items():
            phases = tuple(part if one.phase == phase else one for one in nodes[node].phases)
            nodes[node] = replace(nodes[node], phases=phases)
    gone = {p for p in images.promises if placeholder(images, operator, p) and p.source in members}
    # Lanes of the processors that no stream serves are left out.
    ends = {(p.source, p.register) for schedule in streams for p in schedule.promises}
    ends |= {end for schedule in streams for p in schedule.promises for end in p.destinations}
    for node in members:
        parts = []
        for index, here in nodes[node].operators:
            if index == operator:
                roles = tuple(
                    replace(
                        role,
                        lanes=tuple(
                            lane
                            for lane in role.lanes
                            if lane.turn == SYNC or any((node, register) in ends for register in lane.registers)
                        ),
                    )
                    for role in here.roles
                )
                here = replace(here, roles=roles)
            parts.append((index, here))
        nodes[node] = replace(nodes[node], operators=tuple(parts))
    promises = tuple(p for p in images.promises if p not in gone)
    promises += tuple(p for schedule in streams for p in schedule.promises)
    # Messages of instances with a schedule need no ring any more.
    operators = list(images.operators)
    left = tuple(one for one in operators[operator].instances if not members.issuperset(one))
    # They serve one value, and the operator means others, too.
    program = None if streams else operators[operator].program
    operators[operator] = replace(operators[operator], instances=left, program=program)
    return replace(images, operators=tuple(operators), nodes=tuple(nodes), promises=promises)


def made_images(images: Images, operator: int, values: Sequence[Any]) -> Images:
    """``images`` with the schedules that the instances of an operator get for a distance or a permutation (`values`, of one)."""
    image = images.operators[operator]
    (value,) = values
    given = (0, value) if isinstance(value, tuple) else (value, None)
    made = {}
    for instance, nodes in enumerate(image.instances):
        moves = tuple(move for move in moves_of(image.kind, nodes, *given) if move[0] != move[1])
        made[instance] = schedule_moves(images, operator, instance, moves)
    return scheduled_images(images, operator, made)


Streams = dict[tuple[int, int], list[Hop]]
"""By (from, to), the hops of a stream."""


def _placed(
    free: FreeSlots, standing: Standing, order: list[tuple[int, int]]
) -> tuple[Streams, tuple[int, int] | None]:
    """Streams with a word a period each, and the first move for which there are no slots; None if there is none."""
    streams: Streams = {}
    for move in order:
        for way in standing.paths(*move):
            hops = standing.hops(way)
            if free.place(hops):
                streams[move] = hops
                break
        else:
            return streams, move
    return streams, None


def _grown(free: FreeSlots, streams: list[list[Hop]], most: int) -> None:
    """Give each stream another word a period, up to ``most``, until one of them finds no slots: the slowest counts."""
    for _ in range(1, most):
        found = [free.more(hops) for hops in streams]
        if not all(found):
            return


def _parts(standing: Standing, streams: Streams) -> dict[int, NodePhase]:
    rows = {node: [list(row) for row in part.schedule] for node, part in standing.kept.items()}
    annotations = {
        node: {(r.pipeline, r.vfsm): r.annotation for r in part.annotations} for node, part in standing.kept.items()
    }
    for hops in streams.values():
        for hop in hops:
            moved = Annotation(MoveType.MOVE, hop.source, hop.destination, False)
            annotations[hop.node][hop.pipeline, hop.vfsm] = moved
            for slot, row in enumerate(rows[hop.node]):
                if hop.own >> slot & 1:
                    row[hop.pipeline] = hop.vfsm
    return {
        node: replace(
            part,
            schedule=tuple(tuple(row) for row in rows[node]),
            annotations=tuple(Rewrite(p, v, a) for (p, v), a in sorted(annotations[node].items())),
        )
        for node, part in standing.kept.items()
    }


def _promises(standing: Standing, streams: Streams) -> tuple[Promise, ...]:
    images, operator = standing.images, standing.operator
    image = images.operators[operator]
    return tuple(
        Promise(
            operator,
            image.phase,
            f"{image.label}.{source}-{destination}",
            tuple(range(image.states)),
            source,
            standing.registers(source)[0],
            ((destination, standing.registers(destination)[1]),),
            hops[0].own.bit_count(),
        )
        for (source, destination), hops in streams.items()
    )


@lru_cache(maxsize=64)
def _schedule(key: _ImagesKey, operator: int, instance: int, moves: tuple[tuple[int, int], ...]) -> Schedule:
    return schedule_moves(key.images, operator, instance, moves)


def scheduled_moves(images: Images, operator: int, instance: int, moves: tuple[tuple[int, int], ...]) -> Schedule:
    """`schedule_moves`, cached: each real processor would compute the same schedule, the simulation does it once."""
    return _schedule(_ImagesKey(images), operator, instance, moves)


class _ImagesKey:
    """Images by identity: comparing them would cost more than the schedule."""

    def __init__(self, images: Images) -> None:
        self.images = images

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ImagesKey) and self.images is other.images

    def __hash__(self) -> int:
        return id(self.images)
