"""Threads to TAM assembler text.

A value that other threads need has a slot of the frame; one that only its own thread needs has a register. A thread's last
fork goes to a thread that needs nothing else, if there is one, and that thread is put behind it, so that it falls through.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pointsman.errors import PointsmanError

from ..assembler import REGISTERS
from .graph import FunctionGraph, GraphNode, Operand, Region
from .partition import THREADS, ThreadPart, Threads, partition
from .reading import read_functions

_SPARE = f"r{REGISTERS - 1}"
"""Register for what is used at once."""


@dataclass
class _Text:
    """A thread as text. ``ends``: forks and switches, with the threads that they enable and whether these count."""

    name: str
    count: int
    lines: list[str] = field(default_factory=list)
    ends: list[tuple[str, list[str], bool]] = field(default_factory=list)


class _Block:
    """The code-block of a function."""

    def __init__(self, function: str, blocks: dict[str, str], graph: FunctionGraph, threads: Threads) -> None:
        self.name = blocks[function]
        self.blocks = blocks
        self.graph = graph
        self.slots = list(graph.slots)
        self.inlets: list[str] = []
        self.parts: dict[Region, list[ThreadPart]] = {one: partition(one, threads) for one in graph.regions}
        self.of = {node: part for parts in self.parts.values() for part in parts for node in part.nodes}
        self.names = {
            part: f"t{part.nodes[0].number}_{part.nodes[0].kind}" for parts in self.parts.values() for part in parts
        }
        self.triggered: dict[ThreadPart | GraphNode, list[ThreadPart]] = {}
        self.users: dict[GraphNode, list[GraphNode]] = {}
        for parts in self.parts.values():
            for part in parts:
                triggers: list[ThreadPart | GraphNode] = [*part.forked_by, *part.answers]
                for trigger in triggers:
                    self.triggered.setdefault(trigger, []).append(part)
                for node in part.nodes:
                    for one in node.operands:
                        if isinstance(one, GraphNode):
                            self.users.setdefault(one, []).append(node)
        self.texts: dict[str, _Text] = {}
        self._first_inlet()
        for parts in self.parts.values():
            for part in parts:
                self._thread(part)

    def text(self) -> list[str]:
        lines = [f"codeblock {self.name}"]
        if self.slots:
            lines.append(f"  slots {', '.join(self.slots)}")
        lines += self.inlets
        for one in self._placed():
            lines.append(f"  thread {one.name}" + (f" {one.count}" if one.count > 1 else ""))
            lines += [f"    {line}" for line in (*one.lines, *(line for line, _, _ in one.ends))]
            if not one.ends:
                lines.append("    stop")
        return lines

    def _first_inlet(self) -> None:
        main = self.graph.function.name == "main"
        given = self.graph.parameters + ([] if main else ["back", "where"])
        self.slots += [] if main else ["back", "where"]
        self.inlets += [
            f"  inlet args {', '.join(given)}".rstrip(),
            f"    post {self.names[self._entry(self.graph.regions[0])]}",
        ]

    def _entry(self, region: Region) -> ThreadPart:
        return self.of[region.nodes[0]]

    def _placed(self) -> list[_Text]:
        """Threads in the order in which they fall through most."""
        for one in self.texts.values():
            # The last one becomes a branch: best to a thread that need not be counted and has no place yet.
            one.ends.sort(key=lambda end: (not end[2], len(end[1]) > 1))
        placed: dict[str, _Text] = {}
        for start in self.texts:
            name: str | None = start
            while name is not None and name not in placed:
                placed[name] = self.texts[name]
                ends = placed[name].ends
                name = next((to for to in ends[-1][1] if to not in placed), None) if ends else None
        return list(placed.values())

    # -- a thread --------------------------------------------------------------------------------------------

    def _thread(self, part: ThreadPart) -> None:
        text = self.texts[self.names[part]] = _Text(self.names[part], part.count)
        self._assign(part)
        for node in part.nodes:
            self._node(node, text)
        for other in self.triggered.get(part, []):
            self._fork(text, other)

    def _fork(self, text: _Text, to: ThreadPart) -> None:
        text.ends.append((f"fork {self.names[to]}", [self.names[to]], to.count > 1))

    def _assign(self, part: ThreadPart) -> None:
        """Places of the values of a thread: registers as long as there are some, otherwise slots."""
        self.places: dict[GraphNode, str] = {}
        free = [f"r{number}" for number in reversed(range(REGISTERS - 1))]
        order = {node: place for place, node in enumerate(self._order(part))}
        ends: dict[int, list[str]] = {}
        for node, place in order.items():
            free += ends.get(place, [])
            if node.kind != "compute":
                continue
            users = self.users.get(node, [])
            own = not node.pinned and all(self.of[one] is part for one in users)
            if own and users and free:
                self.places[node] = free.pop()
                ends.setdefault(max(order[one] for one in users), []).append(self.places[node])
            else:
                self.slots.append(node.slot)
        part.nodes = list(order)

    @staticmethod
    def _order(part: ThreadPart) -> list[GraphNode]:
        """Branches and loops are entered last, since they leave the thread."""
        return sorted(part.nodes, key=lambda one: (one.kind in ("if", "loop"), one.number))

    def _read(self, one: Operand) -> str:
        if isinstance(one, GraphNode):
            return self.places.get(one, one.slot)
        return repr(one) if isinstance(one, int | float) else one

    def _inlet(self, node: GraphNode) -> str:
        """The inlet of an answer."""
        self.slots.append(node.slot)
        name = f"in{node.number}"
        self.inlets.append(f"  inlet {name} {node.slot}")
        self.inlets += [f"    post {self.names[part]}" for part in self.triggered.get(node, [])]
        return name

    def _node(self, node: GraphNode, text: _Text) -> None:
        given = [self._read(one) for one in node.operands]
        lines = text.lines
        match node.kind:
            case "entry":
                lines += [f"init {self.names[one]}" for one in self.parts[node.region] if one.count > 1]
            case "compute":
                lines.append(f"{node.name} {self._read(node)}, {', '.join(given)}")
            case "fetch":
                lines.append(f"ifetch {given[0]}, {given[1]}, {self._inlet(node)}")
            case "array":
                lines.append(f"ialloc {given[0]}, {given[1]}, {self._inlet(node)}")
            case "put":
                lines.append(f"istore {', '.join(given)}")
            case "return":
                lines.append(f"sendto back, where, {given[0]}")
            case "frame":
                self._frame(node, given[0], lines)
            case "call":
                block = self.blocks[node.name]
                lines.append(f"inletof {_SPARE}, {self.name}.{self._inlet(node)}")
                lines.append(f"send {', '.join((given[0], f'{block}.args', *given[1:], 'self', _SPARE))}")
            case "if":
                self.slots.append(node.slot)
                self._switch(text, given[0], node.inner)
            case "loop":
                self.slots.append(node.slot)
                lines += [f"mov {slot}, {one}" for slot, one in zip(node.variables, given, strict=True)]
                self._fork(text, self._entry(node.inner[0]))
            case "test":
                assert node.region.owner is not None
                self._switch(text, given[0], node.region.owner.inner[1:])
            case "again":
                assert node.region.owner is not None
                self._again(node.region.owner, given, lines)
                self._fork(text, self._entry(node.region.owner.inner[0]))
            case "leave":
                assert node.region.owner is not None
                lines.append(f"mov {node.region.owner.slot}, {given[0]}")
                for part in self.triggered.get(node.region.owner, []):
                    self._fork(text, part)
            case "free":
                lines.append("ffree self")
            case "halt":
                lines.append(f"halt {given[0]}")

    def _switch(self, text: _Text, test: str, regions: list[Region]) -> None:
        to = [self.names[self._entry(one)] for one in regions]
        text.ends.append((f"switch {test}, {', '.join(to)}", to, False))

    def _frame(self, node: GraphNode, where: str, lines: list[str]) -> None:
        """A frame; if there is no room for it, on the next node."""
        block, child = self.blocks[node.name], self._inlet(node)
        again, full = f"again{node.number}", f"full{node.number}"
        lines.append(f"falloc {block}, {where}, {child}, {full}")
        self.inlets += [f"  inlet {full}", f"    post {again}"]
        self.texts[again] = _Text(
            again, 1, ["add r0, me, 1", "mod r0, r0, nodes", f"falloc {block}, r0, {child}, {full}"]
        )

    def _again(self, loop: GraphNode, given: list[str], lines: list[str]) -> None:
        """The next values of a loop's variables, all at once: one that another takes over is kept until then."""
        moves = [(slot, one) for slot, one in zip(loop.variables, given, strict=True) if slot != one]
        written: list[str] = []
        for place, (slot, one) in enumerate(moves):
            if one in written:  # changed by now
                raise AssertionError(f"{one} is lost")
            if any(slot == later for _, later in moves[place + 1 :]):
                kept = f"k{loop.number}_{slot}"
                if kept not in self.slots:
                    self.slots.append(kept)
                lines.append(f"mov {kept}, {slot}")
                moves[place + 1 :] = [(to, kept if later == slot else later) for to, later in moves[place + 1 :]]
            lines.append(f"mov {slot}, {one}")
            written.append(slot)


def compile_functional(text: str, name: str = "program", threads: Threads = "partitions") -> str:
    """A functional program as TAM assembler text.

    Parameters
    ----------
    text : str
        The program; ``name`` stands in errors.
    threads : "operations" or "partitions"
        A thread for each operation, or threads as large as they can be.

    Raises
    ------
    FunctionalError
        With the place, if the program is wrong.
    """
    if threads not in THREADS:
        raise PointsmanError(f"threads are 'operations' or 'partitions', not {threads!r}")
    functions = read_functions(text, name)
    blocks: dict[str, str] = {"main": "main"}
    for number, one in enumerate(functions):
        plain = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in one.name)
        blocks.setdefault(one.name, f"f{number}_{plain}")
    lines: list[str] = []
    for one in functions:
        lines += _Block(one.name, blocks, FunctionGraph(one), threads).text()
    return "\n".join(lines) + "\n"
