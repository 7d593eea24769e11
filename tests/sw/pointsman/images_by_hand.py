"""Images made a VFSM at a time, without any part of the compiler.

Places are written as text: "+x" and so on for links, "r3" for an interface register, "b5" for a buffer, "nop", "null",
"memadr"; anything numeric is a code as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from numesh.codes import REPROGRAM_VFSM, Annotation, Codes, MoveType
from numesh.shape import NodeShape
from pointsman.artifacts.images import (
    Images,
    LaneImage,
    NodeImage,
    NodeOperator,
    NodePhase,
    OperatorImage,
    PhaseImage,
    Promise,
    Rewrite,
    Role,
)
from pointsman.network import Topology, mesh

PORTS = {"-x": 0, "+x": 1, "-y": 2, "+y": 3, "-z": 4, "+z": 5}
Vfsm = tuple[int, int]


def writes(*registers: int) -> LaneImage:
    return LaneImage(True, registers)


def reads(*registers: int) -> LaneImage:
    return LaneImage(False, registers, data="in")


class ByHand:
    """Collects phases, VFSMs, operators and promises; ``images`` puts them together."""

    def __init__(
        self, topology: Topology, *, period: int, shape: NodeShape | None = None, name: str = "by hand"
    ) -> None:
        self.topology = topology
        self.period = period
        self.shape = shape or NodeShape()
        self.codes = Codes(self.shape)
        self.name = name
        self._phases: list[dict] = []
        self._operators: list[OperatorImage] = []
        self._promises: list[Promise] = []
        self._passages: list[tuple[int, int, int, tuple[int, ...]]] = []
        self._vfsms: dict[tuple[int, int], dict[Vfsm, tuple[Annotation, tuple[int, ...]]]] = {}
        self._roles: dict[tuple[int, int], dict[int, tuple[str, tuple[LaneImage, ...], tuple[Rewrite, ...]]]] = {}
        self._settle: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def place(self, text: str | int) -> int:
        if isinstance(text, int):
            return text
        if text in PORTS:
            return self.codes.neighbour(PORTS[text])
        fixed = {"nop": self.codes.nop, "null": self.codes.null, "memadr": self.codes.memadr}
        if text in fixed:
            return fixed[text]
        return {"r": self.codes.register, "b": self.codes.buffer}[text[0]](int(text[1:]))

    def move(self, source: str | int, destination: str | int, type: MoveType = MoveType.MOVE) -> Annotation:
        return Annotation(type, self.place(source), self.place(destination))

    def phase(
        self,
        name: str,
        *,
        technique: str = "none",
        successors: Sequence[int] = (),
        barrier: int | None = None,
        block: int | None = None,
    ) -> int:
        self._phases.append(
            {
                "name": name,
                "technique": technique,
                "successors": tuple(successors),
                "barrier": barrier,
                "block": len(self._phases) + 1 if block is None else block,
            }
        )
        return len(self._phases) - 1

    def operator(
        self, phase: int, label: str, kind: str, values: Sequence[tuple[int, ...]] = ((),), *, m: int = 4
    ) -> int:
        self._operators.append(
            OperatorImage(
                label=label,
                kind=kind,
                implementation="by hand",
                phase=phase,
                type="int32*",
                m=m,
                runtime=tuple(f"operand{i}" for i in range(len(values[0]))),
                values=tuple(values),
                bandwidth=0.25,
                source=f"byhand.cop:{len(self._operators) + 1}:1",
            )
        )
        return len(self._operators) - 1

    def vfsm(
        self,
        phase: int,
        node: int,
        number: int,
        source: str | int,
        destination: str | int,
        slots: Iterable[int],
        *,
        pipeline: int = 0,
        type: MoveType = MoveType.MOVE,
    ) -> None:
        here = self._vfsms.setdefault((phase, node), {})
        assert (pipeline, number) not in here, f"VFSM {number} of pipeline {pipeline} of node {node} twice"
        slots = tuple(slot % self.period for slot in slots)
        here[pipeline, number] = (self.move(source, destination, type), slots)

    def role(
        self,
        operator: int,
        node: int,
        *lanes: LaneImage,
        value: int = 0,
        kind: str = "func",
        rewrites: dict[Vfsm, Annotation] | None = None,
        delay: int = 0,
    ) -> None:
        made = tuple(Rewrite(p, v, annotation) for (p, v), annotation in (rewrites or {}).items())
        self._roles.setdefault((operator, node), {})[value] = (kind, lanes, made, delay)

    def promise(
        self,
        operator: int,
        source: tuple[int, int],
        destinations: Sequence[tuple[int, int]],
        words: int,
        *,
        values: Sequence[int] | None = None,
        stream: str = "",
    ) -> None:
        image = self._operators[operator]
        self._promises.append(
            Promise(
                operator=operator,
                phase=image.phase,
                stream=stream or f"{image.label} from {source[0]}",
                values=tuple(range(len(image.values)) if values is None else values),
                source=source[0],
                register=source[1],
                destinations=tuple(destinations),
                words=words,
            )
        )

    def settle(self, phase: int, node: int, following: int, cycles: int) -> None:
        self._settle.setdefault((phase, node), []).append((following, cycles))

    def passage(self, node: int, left: int, entered: int, *way: int) -> None:
        self._passages.append((node, left, entered, way))

    def _mark_forks(self) -> None:
        """A VFSM whose word another one forks off in the next slot is marked."""
        for here in self._vfsms.values():
            for (pipeline, _), (second, after) in list(here.items()):
                for first, (annotation, at) in list(here.items()):
                    follows = first[0] == pipeline and {(slot + 1) % self.period for slot in at} == set(after)
                    if second.type == MoveType.FORK and follows and annotation.destination == second.source:
                        here[first] = (replace(annotation, forked=True), at)

    def images(self) -> Images:
        self._mark_forks()
        nodes = range(self.topology.nodes)
        operators: list[list[tuple[int, NodeOperator]]] = [[] for _ in nodes]
        for (operator, node), roles in sorted(self._roles.items()):
            operators[node].append((operator, self._node_operator(operator, node, roles)))
        phases: list[list[NodePhase]] = [[] for _ in nodes]
        for phase, node in sorted(self._vfsms):
            phases[node].append(self._node_phase(phase, node, operators[node]))
        return Images(
            shape=self.shape,
            topology=self.topology,
            period=self.period,
            name=self.name,
            parameters=(("n", 4),),
            loops=("round",),
            operators=tuple(self._operators),
            phases=tuple(
                PhaseImage(
                    operators=tuple(i for i, o in enumerate(self._operators) if o.phase == number),
                    reason="chosen by hand",
                    **phase,
                )
                for number, phase in enumerate(self._phases)
            ),
            nodes=tuple(NodeImage(tuple(phases[node]), tuple(operators[node])) for node in nodes),
            promises=tuple(self._promises),
            passages=tuple(self._passages),
            notes=("made by hand",),
        )

    def _node_operator(self, operator: int, node: int, given: dict) -> NodeOperator:
        """Roles by value; a role that does not name a VFSM that another one rewrites gets it as it stands."""
        image = self._operators[operator]
        standing = self._vfsms.get((image.phase, node), {})
        named = sorted({(r.pipeline, r.vfsm) for _, _, rewrites, _ in given.values() for r in rewrites})
        roles: list[Role] = []
        role_of = []
        for value in range(len(image.values)):
            kind, lanes, rewrites, delay = given.get(value, ("none", (), (), 0))
            by_vfsm = {(r.pipeline, r.vfsm): r for r in rewrites}
            role = Role(
                kind, lanes, tuple(by_vfsm.get(v) or Rewrite(*v, annotation=standing[v][0]) for v in named), delay
            )
            if role not in roles:
                roles.append(role)
            role_of.append(roles.index(role))
        return NodeOperator(tuple(roles), tuple(role_of), position=node, nodes=self.topology.nodes)

    def _node_phase(self, phase: int, node: int, operators: list[tuple[int, NodeOperator]]) -> NodePhase:
        here = self._vfsms[phase, node]
        rows = [[0] * self.shape.pipelines for _ in range(self.period)]
        for (pipeline, number), (_, slots) in here.items():
            for slot in slots:
                assert rows[slot][pipeline] == 0, f"slot {slot} of pipeline {pipeline} of node {node} twice"
                rows[slot][pipeline] = number
        writing = {
            (r.pipeline, r.vfsm)
            for i, operator in operators
            if self._operators[i].phase == phase
            for role in operator.roles
            for r in role.rewrites
            if self.codes.is_register(r.annotation.destination)
        } | {v for v, (annotation, _) in here.items() if self.codes.is_register(annotation.destination)}
        for pipeline in range(self.shape.pipelines):
            for slot in range(self.period):
                if rows[slot][pipeline] == 0 and (pipeline, rows[slot - 1][pipeline]) not in writing:
                    rows[slot][pipeline] = REPROGRAM_VFSM
        return NodePhase(
            phase,
            tuple(map(tuple, rows)),
            tuple(Rewrite(p, v, annotation) for (p, v), (annotation, _) in sorted(here.items())),
            tuple(self._settle.get((phase, node), ())),
        )


def stream_1x2() -> Images:
    """One stream from node 0 to node 1, two words in eight slots."""
    by = ByHand(mesh(2), period=8, shape=NodeShape(neighbours=2))
    phase = by.phase("p")
    by.vfsm(phase, 0, 2, "r2", "+x", (0, 4))
    by.vfsm(phase, 1, 2, "-x", "r3", (1, 5))
    operator = by.operator(phase, "s", "stream")
    by.role(operator, 0, writes(2), kind="write")
    by.role(operator, 1, reads(3), kind="read")
    by.promise(operator, (0, 2), [(1, 3)], 2)
    return by.images()


def delay_1x3() -> Images:
    """A stream from node 0 to node 2 that waits in a buffer of node 1, which has no operator."""
    by = ByHand(mesh(3), period=16)
    phase = by.phase("p")
    by.vfsm(phase, 0, 2, "r2", "+x", (0, 8))
    by.vfsm(phase, 1, 2, "-x", "b2", (1, 9))
    by.vfsm(phase, 1, 3, "b2", "+x", (5, 13))
    by.vfsm(phase, 2, 2, "-x", "r3", (6, 14))
    operator = by.operator(phase, "s", "stream")
    by.role(operator, 0, writes(2), kind="write")
    by.role(operator, 2, reads(3), kind="read")
    by.promise(operator, (0, 2), [(2, 3)], 2)
    by.passage(1, -1, -1, phase)
    return by.images()


def broadcast_1x3(shape: NodeShape | None = None) -> Images:
    """A broadcast from node 0: node 1 forks each word to node 2 and to its own processor."""
    by = ByHand(mesh(3), period=8, shape=shape)
    phase = by.phase("p")
    by.vfsm(phase, 0, 2, "r2", "+x", (0, 4))
    by.vfsm(phase, 1, 2, "-x", "+x", (1, 5))
    by.vfsm(phase, 1, 3, "+x", "r3", (2, 6), type=MoveType.FORK)
    by.vfsm(phase, 2, 2, "-x", "r3", (2, 6))
    operator = by.operator(phase, "b", "broadcast")
    by.role(operator, 0, writes(2), kind="write")
    by.role(operator, 1, reads(3), kind="read")
    by.role(operator, 2, reads(3), kind="read")
    by.promise(operator, (0, 2), [(1, 3), (2, 3)], 2)
    return by.images()


def merge_1x3() -> Images:
    """A collect: nodes 0 and 2 send to node 1, which takes both through the buffer of one VFSM."""
    by = ByHand(mesh(3), period=16)
    phase = by.phase("p")
    by.vfsm(phase, 0, 2, "r2", "+x", (0,))
    by.vfsm(phase, 2, 2, "r2", "-x", (3,))
    by.vfsm(phase, 1, 2, "-x", "b4", (1,))
    by.vfsm(phase, 1, 3, "+x", "b4", (4,))
    by.vfsm(phase, 1, 4, "nop", "r5", (8,))
    operator = by.operator(phase, "c", "collect")
    for node in (0, 2):
        by.role(operator, node, writes(2), kind="write")
        by.promise(operator, (node, 2), [(1, 5)], 1, stream="to 1")
    by.role(operator, 1, reads(5), kind="read")
    return by.images()


def two_phases_2x2(shape: NodeShape | None = None) -> Images:
    """Two phases; the first ends with a barrier around the mesh, the second writes a link in the same slot again.

    Phase 0: a stream 0 -> 1 -> 3 in pipeline 0 and the barrier's tokens 0 -> 1 -> 3 -> 2 -> 0 in pipeline 1; node 0 sends a
    second one round when the first has come back.
    Phase 1: a stream 0 -> 1 in the very slot, and one 2 -> 3.
    """
    by = ByHand(mesh(2, 2), period=8, shape=shape)
    first = by.phase("first", technique="barrier", successors=(1,), barrier=1)
    by.vfsm(first, 0, 2, "r2", "+x", (2,))
    by.vfsm(first, 1, 2, "-x", "+y", (3,))
    by.vfsm(first, 3, 2, "-y", "r3", (4,))
    stream = by.operator(first, "s", "stream")
    by.role(stream, 0, writes(2), kind="write")
    by.role(stream, 3, reads(3), kind="read")
    by.promise(stream, (0, 2), [(3, 3)], 1)
    barrier = by.operator(first, "sync", "barrier")
    ring = [(0, "+x", "+y", 1), (1, "+y", "-x", 3), (3, "-x", "-y", 2), (2, "-y", "+x", 0)]

    for node, out, into, following in ring:
        by.vfsm(first, node, 4, "r6", out, (0,), pipeline=1)
        by.vfsm(first, node, 5, into, "r7", (1,), pipeline=1)
        begins = node == 0
        on = LaneImage(
            True,
            (6,),
            2,
            "token",
            after=None if begins else 1,
            pair=1 if begins else None,
            window=1 if begins else None,
        )
        by.role(barrier, node, on, LaneImage(False, (7,), 2, "token"), delay=8)
        by.promise(barrier, (node, 6), [(following, 7)], 1)
    second = by.phase("second")
    by.vfsm(second, 0, 3, "r4", "+x", (2,))
    by.vfsm(second, 1, 3, "-x", "r4", (3,))
    by.vfsm(second, 2, 3, "r4", "+x", (2, 5))
    by.vfsm(second, 3, 3, "-x", "r4", (3, 6))
    for label, source, destination, words in (("t", 0, 1, 1), ("u", 2, 3, 2)):
        operator = by.operator(second, label, "stream")
        by.role(operator, source, writes(4), kind="write")
        by.role(operator, destination, reads(4), kind="read")
        by.promise(operator, (source, 4), [(destination, 4)], words)
    for node in range(4):
        by.settle(first, node, second, 12)
    for node in (1, 2):  # these only take part in the barrier
        by.passage(node, -1, second, first)
    return by.images()


def line_broadcast(
    by: ByHand,
    phase: int,
    operator: int,
    nodes: Sequence[int],
    *,
    ahead: str = "+x",
    back: str = "-x",
    first: int = 2,
    register: int = 2,
    start: int = 0,
    step: int = 4,
) -> None:
    """A broadcast along a line whose source is chosen at run time (Metcalf 1997, §7.1.4, C_ALLSRC).

    Two waves, ahead in pipeline 0 and back in pipeline 1, from slot ``start`` with a word every ``step`` slots. The
    source's forwarding VFSMs read its interface registers, and its deliveries are switched off. Two registers to send
    ahead and back and two to receive from behind and from ahead, from ``register`` on; VFSM numbers from ``first`` on.
    """
    words = by.period // step
    ahead_out, back_out, behind_in, ahead_in = range(register, register + 4)
    last = len(nodes) - 1
    rewrites: list[dict[Vfsm, Annotation]] = [{} for _ in nodes]
    for pipeline, line, out, into in ((0, list(nodes), ahead, back), (1, list(reversed(nodes)), back, ahead)):
        inject, deliver = f"r{register + pipeline}", f"r{register + 2 + pipeline}"
        for i, node in enumerate(line):
            at = range(start + i, start + i + step * words, step)
            after = [slot + 1 for slot in at]
            own = rewrites[nodes.index(node)]
            if i == 0:
                by.vfsm(phase, node, first, inject, out, at, pipeline=pipeline)
            elif i < last:
                by.vfsm(phase, node, first, into, out, at, pipeline=pipeline)
                by.vfsm(phase, node, first + 1, out, deliver, after, pipeline=pipeline, type=MoveType.FORK)
                own[pipeline, first] = by.move(inject, out)
                own[pipeline, first + 1] = by.move("nop", "nop")
            else:
                by.vfsm(phase, node, first, into, deliver, at, pipeline=pipeline)
                own[pipeline, first] = by.move("nop", "nop")
    for value, source in enumerate(nodes):
        for i, node in enumerate(nodes):
            if node == source:
                lanes = [writes(ahead_out)] if i < last else []
                lanes += [writes(back_out)] if i > 0 else []
                by.role(operator, node, *lanes, value=value, kind="write", rewrites=rewrites[i], delay=by.period)
            else:
                by.role(operator, node, reads(behind_in if i > value else ahead_in), value=value, kind="read")
        if value < last:
            by.promise(
                operator,
                (source, ahead_out),
                [(node, behind_in) for node in nodes[value + 1 :]],
                words,
                values=(value,),
                stream="ahead",
            )
        if value > 0:
            by.promise(
                operator,
                (source, back_out),
                [(node, ahead_in) for node in nodes[:value]],
                words,
                values=(value,),
                stream="back",
            )


def runtime_broadcast_1x3(shape: NodeShape | None = None) -> Images:
    """``line_broadcast`` on three nodes."""
    by = ByHand(mesh(3), period=8, shape=shape)
    phase = by.phase("p")
    operator = by.operator(phase, "b", "broadcast", [(0,), (1,), (2,)])
    line_broadcast(by, phase, operator, [0, 1, 2])
    return by.images()


def two_runtime_broadcasts_2x3() -> Images:
    """``line_broadcast`` along both rows of a mesh, as two operators of one phase."""
    by = ByHand(mesh(3, 2), period=8)
    phase = by.phase("p")
    for row, label in enumerate("bc"):
        operator = by.operator(phase, label, "broadcast", [(0,), (1,), (2,)])
        line_broadcast(by, phase, operator, [3 * row, 3 * row + 1, 3 * row + 2])
    return by.images()


def crossing(length: int) -> Images:
    """Two such broadcasts, along a row and a column of a square mesh, that share the node where they cross."""
    by = ByHand(mesh(length, length), period=8)
    phase = by.phase("p")
    middle = length // 2
    values = [(i,) for i in range(length)]
    row, column = by.operator(phase, "row", "broadcast", values), by.operator(phase, "column", "broadcast", values)
    line_broadcast(by, phase, row, [middle * length + i for i in range(length)], step=8)
    nodes = [i * length + middle for i in range(length)]
    line_broadcast(by, phase, column, nodes, ahead="+y", back="-y", first=4, register=6, start=3, step=8)
    return by.images()


def rows_and_columns(side: int, *, period: int = 40) -> Images:
    """Broadcasts along all rows of a square mesh, then along all columns; each with a source chosen at run time."""
    by = ByHand(mesh(side, side), period=period)
    values = [(i,) for i in range(side)]
    long = 8 * side
    rows = by.phase("rows", technique="msg-sync", successors=(1,))
    columns = by.phase("columns", technique="msg-sync", successors=(0,))
    for row in range(side):
        operator = by.operator(rows, f"row{row}", "broadcast", values, m=long)
        line_broadcast(by, rows, operator, [row * side + x for x in range(side)])
    for column in range(side):
        operator = by.operator(columns, f"column{column}", "broadcast", values, m=long)
        nodes = [y * side + column for y in range(side)]
        line_broadcast(by, columns, operator, nodes, ahead="+y", back="-y", first=4, register=6)
    return by.images()


SMALL = {
    make.__name__: make
    for make in (
        stream_1x2,
        delay_1x3,
        broadcast_1x3,
        merge_1x3,
        two_phases_2x2,
        runtime_broadcast_1x3,
        two_runtime_broadcasts_2x3,
    )
}
"""Legal images by name."""
