"""Random COP programs over all operators and groups of Metcalf 1997, A.1 to A.5, on small and large networks of all kinds.

``case_of(seed)`` is a program, a network and the delays of its processors; the same seed gives the same case. The programs are
legal COP, and `walker.Walker` runs them as the language allows, so that whatever goes wrong is a fault of Pointsman.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from pointsman.network import Topology, mesh, parse_size, torus
from pointsman.network.faults import with_faults
from pointsman.network.lattice import diamond
from pointsman.operators import IMPLEMENTATIONS

NETWORKS = (
    *("1x1", "1x2", "2x1", "2x2", "3x1", "1x4", "2x3", "3x3", "4x2", "4x4", "3x5", "5x4"),
    *("6x6", "8x8", "1x12", "2x2x2", "3x3x3", "4x4", "6x1", "4x3"),
    *("torus:4", "torus:3x3", "torus:4x4", "diamond:2", "diamond:3"),
    *("3x3-4", "4x4-5", "4x3-5", "3x3-0.1", "4x4-5.6", "4x2-1.5"),
)
"""Networks by name: kind and size, then a node that is dead, or the ends of a link that is."""
WORDS = (1, 1, 1, 2, 2, 3, 7, 20, 20, 64, 200, 500, 2000)
DELAYS = (0, 60, 60, 400, 1500)
"""Most cycles that a processor computes before a call."""
MOST_WORDS = 60_000
"""Most words that a program's messages have, times the nodes: longer messages only where there are few."""
SLOTS = (1, 2, 2, 4, 4, 8)
SWITCH_MODES = ("preload", "dynamic", "auto", "hybrid")
OPERATORS = (1, 1, 2, 3, 4, 6, 8)
"""How many operators programs have, about."""
AGAIN = 0.2
"""Chance of an operator to be like one before."""
ASKING = 0.25
"""Chance of an operator to ask for an implementation, in programs that may."""
TYPES = ("int32*", "int32*", "int32*", "float32*", "int64*", "float64*", "int32", "float32", "int64", "float64")
FUNCTIONS = ("add", "sum", "mul", "min", "max", "and", "or", "xor")
DIRECTIONAL = ("broadcast", "collect", "stream", "spread", "gather", "seqread", "seqwrite")
FUNCTIONAL = ("reduce", "allreduce", "prefix", "barrier", "cshift", "eoshift", "permute")
COMPOUND = ("grid", "transpose", "bitreverse", "bistream")


@dataclass(frozen=True)
class Case:
    """A program, the network it is for and how it is run."""

    seed: int
    network: str
    text: str
    slowest: int = 0
    """Most cycles that a node computes before a call."""
    target: str = "numesh"
    slots: int = 4
    """Slots of a switch."""
    mode: str = "preload"
    """Who makes the connections of a switch."""


def network_named(name: str) -> Topology:
    """A network by its name."""
    whole, _, dead = name.partition("-")
    kind, _, size = whole.rpartition(":")
    if kind == "diamond":
        topology = diamond(int(size))
    else:
        topology = (torus if kind == "torus" else mesh)(*parse_size(size))
    ends = tuple(map(int, dead.split("."))) if dead else ()
    if len(ends) == 1:
        topology = with_faults(topology, nodes=ends)
    elif ends:
        topology = with_faults(topology, links=[(ends[0], ends[1])])
    return topology


def case_of(
    seed: int,
    target: str = "numesh",
    networks: tuple[str, ...] = NETWORKS,
    *,
    words: int = MOST_WORDS,
    operators: tuple[int, ...] = OPERATORS,
    asking: bool = False,
) -> Case:
    """The case of a seed: on one of ``networks``, with about as many operators as one of ``operators`` says. ``asking``: some of
    the operators ask for an implementation, which may be unable to do them; the program is the same but for that."""
    chance = random.Random(f"everything {seed}")
    name = chance.choice(networks)
    topology = network_named(name)
    slowest = chance.choice(DELAYS)
    writer = _Writer(chance, topology, words, chance.choice(operators))
    writer.asking = random.Random(f"asking {seed}") if asking else None
    text = writer.program()
    if target != "tdm":
        return Case(seed, name, text, slowest, target)
    switch = random.Random(f"switch {seed}")
    slots = switch.choice(SLOTS)
    return Case(
        seed, name, text, slowest, target, slots, switch.choice(SWITCH_MODES if slots > 1 else SWITCH_MODES[:-1])
    )


def _list(numbers: object) -> str:
    if isinstance(numbers, int):
        return str(numbers)
    return f"({' '.join(map(_list, numbers))})"  # type: ignore[call-overload]


class _Writer:
    """Writes a program. Nodes are indices into the current subset, as in COP; ``n`` is its size."""

    def __init__(self, chance: random.Random, topology: Topology, words: int, operators: int) -> None:
        self.chance = chance
        self.more = random.Random(chance.getstate()[1][0])
        """Chance for what was added later, so that the programs of seeds change little."""
        self.again = random.Random(self.more.getstate()[1][1])
        """Chance for operators that are written once more, with another label."""
        self.written: list[tuple[int, str, str, int]] = []
        """Operators so far: nodes of the subset, kind, operands with options, and words of the messages of a round."""
        self.topology = topology
        self.labels = 0
        self.words = words // topology.nodes
        """Words that the messages to come may have."""
        self.left = operators
        """Operators still to come."""
        self.rounds = 1
        """How often the group at hand is run."""
        self.asking: random.Random | None = None
        """Chance for implementations that operators ask for; None: they ask for none."""

    def label(self, what: str = "o") -> str:
        self.labels += 1
        return f"{what}{self.labels}"

    # -- groups ----------------------------------------------------------------------------------------------------------

    def program(self) -> str:
        parts = []
        while self.left > 0 and len(parts) < 4:
            parts.append(self.part(len(self.topology.working), 2, whole=not self.topology.dead))
        return "\n".join(parts)

    def part(self, n: int, depth: int, *, whole: bool = False) -> str:
        """An operator or a group in a subset of ``n`` nodes; ``whole``: the subset is the whole network."""
        how = self.chance.random()
        if depth == 0 or self.left <= 1 or how < 0.3:
            return self.operators(n, whole=whole)
        kinds = ["sequential", "loop", "loop", "loop", "optional", "parallel", "threads", "beside", "phase", "subset"]
        kind = self.chance.choice(kinds)
        match kind:
            case "parallel":
                count = self.chance.randint(1, 3)
                inside = " ".join(self.operators(n, whole=whole) for _ in range(count))
                if self.chance.random() < 0.3:
                    inside += f" {self.group(n, depth - 1, 'optional')}"
                return f"(parallel {inside})"
            case "threads":
                return self.threads(n, depth)
            case "beside":
                inner = self.threads(n, depth) if self.chance.random() < 0.3 else self.group(n, depth - 1)
                return f"(parallel {self.operators(n)} {inner})"
            case "subset":
                parts = self.parts(n)
                return f"(subset '{_list(parts)} {self.group(len(parts[0]), depth - 1)})"
            case _:
                return self.group(n, depth, kind, whole=whole)

    def group(self, n: int, depth: int, kind: str = "", *, whole: bool = False) -> str:
        """A sequence of parts."""
        kind = kind or self.chance.choice(["sequential", "loop"])
        before = self.rounds
        if kind == "loop":
            count = self.chance.choice([1, 2, 2, 3, 3, 5])
            self.rounds *= count
            kind = f"loop '{self.label('l')} {count}"
        inside = " ".join(self.part(n, max(0, depth - 1), whole=whole) for _ in range(self.chance.randint(1, 3)))
        self.rounds = before
        return f"({kind} {inside})"

    def threads(self, n: int, depth: int) -> str:
        """Sequences side by side on subsets that have no node in common."""
        if n < 2:
            return self.group(n, depth)
        cuts = sorted(self.chance.sample(range(1, n), min(n - 1, self.chance.choice([1, 1, 2]))))
        order = list(range(n))
        if self.chance.random() < 0.1:
            self.chance.shuffle(order)
        groups = []
        for low, high in zip([0, *cuts], [*cuts, n], strict=True):
            groups.append(f"(subset '({_list(order[low:high])}) {self.group(high - low, depth - 1)})")
        return f"(parallel {' '.join(groups)})"

    def parts(self, n: int) -> list[list[int]]:
        """Subsets of equal size without a node in common."""
        how = self.chance.choice(["some", "strided", "blocks", "lines", "shuffled"])
        if how == "lines" and n == self.topology.nodes and len(self.topology.size) > 1:
            axis = self.chance.randrange(len(self.topology.size))
            lines: dict[tuple[int, ...], list[int]] = {}
            for node in range(n):
                place = self.topology.coordinates(node)
                lines.setdefault(place[:axis] + place[axis + 1 :], []).append(node)
            return list(lines.values())
        nodes = list(range(n))
        if how in ("some", "shuffled"):
            self.chance.shuffle(nodes)
        if how == "some":
            return [nodes[: self.chance.randint(1, n)]]
        count = self.chance.randint(1, min(n, 4))
        if how == "strided":
            found = [nodes[k::count] for k in range(count)]
            size = len(found[-1])
            return [part[:size] for part in found][: self.chance.randint(1, count)]
        size = n // count
        return [nodes[k * size : (k + 1) * size] for k in range(count)][: self.chance.randint(1, count)]

    # -- operators -------------------------------------------------------------------------------------------------------

    def operators(self, n: int, *, whole: bool = False) -> str:
        """An operator, in a subset or not, or a compound operator."""
        self.left -= 1
        how = self.chance.random()
        if how < 0.12:
            return self.compound(n, whole=whole)
        if how < 0.17 and n > 1:
            return self.several(n)
        if how < 0.6:
            return self.operator(n)
        parts = self.parts(n)
        if self.more.random() < 0.1 and n > len(parts) * len(parts[0]):
            return self.uneven(n, parts)
        return f"(subset '{_list(parts)} {self.operator(len(parts[0]))})"

    def uneven(self, n: int, parts: list[list[int]]) -> str:
        """An operator whose instances are of different sizes; its operands are legal in the smallest."""
        text = self.operator(len(parts[0]))
        if not text.startswith("(permute"):  # which is as long as its subset
            parts = [*parts[:-1], parts[-1] + [k for k in range(n) if not any(k in part for part in parts)]]
        return f"(subset '{_list(parts)} {text})"

    def several(self, n: int) -> str:
        """One operator in several instances that have nodes in common: each node writes once at most and reads once at most."""
        options = self.options()
        label = self.label()
        if self.chance.random() < 0.5:
            distance = self.chance.randint(1, n - 1)
            return f"(doall ((i (all {n}))) (stream '{label} i (mod (+ i {distance}) {n}){options}))"
        size = self.chance.randint(2, n)
        parts = [list(range(k, k + size)) for k in range(0, n - size + 1, size - 1)]
        return f"(subset '{_list(parts)} (broadcast '{label} 0{options}))"

    def compound(self, n: int, *, whole: bool) -> str:
        kind = self.chance.choice(COMPOUND)
        dimensions = len(self.topology.size)
        lengths = [length for length in (1, 1, 2) if length < max(self.topology.size)]
        if kind == "grid" and whole and self.topology.kind == "mesh" and lengths:
            labels = " ".join(self.label() for _ in range(2 * dimensions))
            return f"(grid '({labels}) {self.chance.choice(lengths)} {self.chance.choice([1, 1, 2])}{self.options()})"
        if kind == "transpose" and whole and self.topology.kind == "mesh" and dimensions > 1:
            one, two = self.chance.sample("xyz"[:dimensions], 2)
            firsts = self.chance.choice([f"(make-1d '{two})", f"(car (make-1d '{two}))"])
            square = dimensions == 2 and len(set(self.topology.size)) == 1
            if "car" not in firsts or square:
                return f"(transpose '{self.label()} (make-1d '{one}) {firsts}{self.options()})"
        if kind == "bitreverse" and n & (n - 1) == 0:
            return f"(bitreverse '{self.label()}{self.options()})"
        if n > 1:
            one, two = self.chance.sample(range(n), 2)
            again = self.label()
            second = again if self.chance.random() < 0.3 else self.label()
            return f"(bistream '{again} '{second} {one} {two}{self.options()})"
        return self.operator(n)

    def options(self, *, messages: int = 1) -> str:
        """Optional arguments that every operator takes."""
        chance = self.chance
        type_ = chance.choice(TYPES) if chance.random() < 0.5 else "int32*"
        wide = 2 if "64" in type_ else 1
        most = max(wide, self.words // (self.rounds * messages))
        m = (
            wide
            if not type_.endswith("*")
            else wide * max(1, chance.choice([w for w in WORDS if w <= most] or [1]) // wide)
        )
        self.words -= m * self.rounds * messages
        found = f" :m {m}" if chance.random() < 0.95 or type_.endswith("*") else ""
        if type_ != "int32*":
            found += f" :type '{type_}"
        if chance.random() < 0.05:
            found += chance.choice([" :pipelined t", " :b *min*", " :b 0.5", " :c 3"])
        self.type, self.m = type_, m
        return found

    def operator(self, n: int) -> str:
        """An operator, new or like one before, with which it may have its streams in common."""
        before = self.words
        kind, label, rest = self.new(n)
        alike = [one for one in self.written if one[0] == n and one[3] * self.rounds <= before]
        if alike and self.again.random() < AGAIN:
            _, kind, rest, words = self.again.choice(alike)
            self.words = before - words * self.rounds
        self.written.append((n, kind, rest, (before - self.words) // self.rounds))
        asked = ""
        if self.asking is not None and self.asking.random() < ASKING:
            asked = f" :impl '{self.asking.choice([one.name for one in IMPLEMENTATIONS if kind in one.kinds])}"
        return f"({kind} '{label}{rest}{asked})"

    def new(self, n: int) -> tuple[str, str, str]:
        """Kind, label, and operands with options."""
        chance = self.chance
        kinds = [*DIRECTIONAL, *FUNCTIONAL, "broadcast", "cshift"]
        kind = chance.choice([k for k in kinds if n > 1 or k not in ("seqread", "seqwrite", "spread", "gather")])
        if kind == "barrier":
            return kind, self.label(), ""
        valid = sorted(chance.sample(range(n), chance.randint(1, n))) if chance.random() < 0.12 else None
        if valid is not None and kind in ("seqread", "seqwrite", "permute") and len(valid) < 2:
            valid = None
        options = self.options(messages=n if kind in ("spread", "gather", "seqread", "seqwrite") else 1)
        if valid is not None:
            options += f" :valid '{_list(valid)}"
        members = list(range(n)) if valid is None else valid
        return kind, self.label(), f"{self.operands(kind, n, members)}{options}"

    def function(self) -> str:
        chance = self.chance
        if chance.random() < 0.1:
            return " (runtime)"
        array = self.type.endswith("*")
        known = [name for name in FUNCTIONS if "int" in self.type or name not in ("and", "or", "xor")]
        if chance.random() < 0.6:
            return f" '{chance.choice(known)}"
        items = self.m // (2 if "64" in self.type else 1)
        own = ["left", "right", *(["largest"] if array else []), *(["matrices"] if array and items % 4 == 0 else [])]
        return f" '{chance.choice(own if array else ['left_item', 'right_item'])}"

    def node(self, members: list[int], *flavours: str) -> str:
        """A node of ``members``, or a run-time value that is legal there."""
        if self.chance.random() < 0.5:
            return f" {self.chance.choice(members)}"
        return self.runtime(members, *flavours)

    def runtime(self, legal: list[int], *flavours: str) -> str:
        chance = self.chance
        flavour = chance.choice(["", *flavours]) if flavours else ""
        listed = ""
        if chance.random() < 0.3:
            listed = f" :values '{_list(sorted(chance.sample(legal, chance.randint(1, len(legal)))))}"
        block = f" :block {chance.choice([2, 4])}" if chance.random() < 0.1 else ""
        return f" (runtime{flavour}{listed}{block})"

    def operands(self, kind: str, n: int, members: list[int]) -> str:
        chance = self.chance
        distributed, dynamic = " :distributed t", " :dynamic t"
        match kind:
            case "broadcast":
                return self.node(members, distributed, dynamic)
            case "collect":
                return self.node(members, distributed)
            case "reduce":
                return self.function() + self.node(members, distributed)
            case "allreduce" | "prefix":
                return self.function()
            case "cshift":
                far = chance.choice([1, -1, chance.randint(-n, n), chance.randint(-2 * n, 2 * n)])
                return f" {far}" if chance.random() < 0.5 else self.runtime(list(range(1 - n, n)))
            case "eoshift":
                far = chance.choice([1, -1, chance.randint(-n, n)])
                return f" {far}" if chance.random() < 0.5 else self.runtime(list(range(-n, n + 1)))
            case "permute":
                if chance.random() < 0.5:
                    return chance.choice([" (runtime)", " (runtime)", f" (runtime{distributed})"])
                return f" '{_list(chance.sample(range(n), n))}"
            case "stream":
                return self.node(members) + self.node(members, dynamic)
            case "spread" | "gather":
                return f" {chance.choice(members)}"
        # seqread and seqwrite: the single end is none of the chain
        one, *chain = chance.sample(members, chance.randint(2, len(members)))
        rest = [node for node in members if node not in chain]
        end = f" {one}"
        if chance.random() < 0.5:
            end = f" (runtime :values '{_list(sorted(chance.sample(rest, chance.randint(1, len(rest)))))})"
        return f" '{_list(chain)}{end}" if kind == "seqread" else f"{end} '{_list(chain)}"
