"""The tables of a node in C: ``struct pm_node`` of the driver's ``pm.h``, which says what each field means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from numesh.codes import LOOKAHEAD, REPROGRAM_VFSM, Codes, ScheduleEntry
from pointsman.artifacts.images.images import (
    SYNC,
    Images,
    LaneImage,
    NodeOperator,
    NodePhase,
    OperatorImage,
    Role,
    by_step,
    whole_messages,
)
from pointsman.program.catalogue import OPERATORS

from .entries import Entry
from .text import Tables, row, signed, string

MESSAGES = {"out": "PM_OUT", "in": "PM_IN", "token": "PM_TOKEN", "": "PM_NOTHING"}
PARTS = {"none": "PM_NONE", "write": "PM_WRITE", "read": "PM_READ", "both": "PM_BOTH", "func": "PM_FUNC"}
Place = tuple[int, int]


@dataclass
class Sizes:
    """What a node needs room for."""

    places: int = 0
    operators: int = 0
    lanes: int = 1
    temporaries: int = 0
    temporary_words: int = 0
    local: int = 0
    operands: int = 1

    def joined(self, other: Sizes) -> Sizes:
        """Room for either node."""
        return Sizes(*map(max, self.all(), other.all()))

    def all(self) -> tuple[int, ...]:
        return (
            *(self.places, self.operators, self.lanes, self.temporaries),
            *(self.temporary_words, self.local, self.operands),
        )


@dataclass
class NodeTables:
    """Text and sizes of a node's tables."""

    text: str
    sizes: Sizes = field(default_factory=Sizes)


def node_tables(images: Images, entries: Sequence[Entry], node: int, name: str) -> NodeTables:
    """The definition of ``const struct pm_node NAME`` for a node, with all tables that it names."""
    return _Writer(images, entries, node).write(name)


class _Writer:
    def __init__(self, images: Images, entries: Sequence[Entry], node: int) -> None:
        self.images = images
        self.entries = entries
        self.number = node
        self.codes = Codes(images.shape)
        self.image = images.nodes[node]
        self.tables = Tables()
        self.sizes = Sizes()
        barriers = {phase.barrier for phase in images.phases}
        self.operators = [(index, view) for index, view in self.image.operators if index not in barriers]
        self.at = {index: k for k, (index, _) in enumerate(self.operators)}
        """By number in the images, where an operator stands in the node's table."""
        self.barriers = {index: view for index, view in self.image.operators if index in barriers}
        self.places: dict[int, dict[Place, int]] = {
            part.phase: {(r.pipeline, r.vfsm): k for k, r in enumerate(part.annotations)} for part in self.image.phases
        }
        self.contested = self._contested()

    def write(self, name: str) -> NodeTables:
        images, tables = self.images, self.tables
        first = 0
        names = ["0"] * len(images.phases)
        for part in sorted(self.image.phases, key=lambda one: one.phase):
            names[part.phase] = f"&phase_{part.phase}"
            self._phase(part, first)
            first += len(part.annotations)
        self.sizes.places, self.sizes.operators = first, len(self.operators)
        phases = tables.table("const struct pm_phase *const", "phases", names)
        operators = tables.table(
            "const struct pm_operator", "operators", [self._operator(*one) for one in self.operators]
        )
        rows = tables.table("const struct pm_entry", "entries", [self._entry(one) for one in self.entries])
        passages = [self._passage(*one[1:]) for one in images.passages if one[0] == self.number]
        loader = self._loader()
        words = tables.table("const pm_word", "loader", [f"0x{word:08x}u" for word in loader])
        values = (
            *(self.number, phases, operators, rows, len(self.operators), len(passages)),
            *(tables.table("const struct pm_passage", "passages", passages), words, len(loader)),
        )
        tables.lines += [f"const struct pm_node {name} = {row(values)};"]
        return NodeTables("\n".join(tables.lines) + "\n", self.sizes)

    # -- phases ------------------------------------------------------------------------------------------------

    def _contested(self) -> set[tuple[int, Place]]:
        """(phase, place) of VFSMs that other phases overwrite, as `pointsman.runtime.numesh.residency` has it."""
        changing = {
            (self.images.operators[index].phase, (r.pipeline, r.vfsm))
            for index, view in self.image.operators
            for role in view.roles
            for r in role.rewrites
        }
        users: dict[Place, dict[int, object]] = {}
        for part in self.image.phases:
            for r in part.annotations:
                users.setdefault((r.pipeline, r.vfsm), {})[part.phase] = r.annotation
        return {
            (phase, place)
            for place, standing in users.items()
            for phase in standing
            if len(standing) > 1
            and (len(set(standing.values())) > 1 or any((other, place) in changing for other in standing))
        }

    def _phase(self, part: NodePhase, first: int) -> None:
        images, tables, codes = self.images, self.tables, self.codes
        image = images.phases[part.phase]
        entries: list[int] = []
        for block, rows in ((image.block, part.schedule), (image.second, part.second)):
            base = block * images.period
            for slot, vfsms in enumerate(rows):
                entry = ScheduleEntry(vfsms, base + (slot + LOOKAHEAD) % images.period)
                entries += codes.write_entry(base + slot, entry)
        places = [
            row((r.pipeline, int((part.phase, (r.pipeline, r.vfsm)) in self.contested), r.vfsm))
            for r in part.annotations
        ]
        annotations = [w for r in part.annotations for w in codes.write_annotation(r.vfsm, r.annotation)]
        slots = [sum(r[p] == REPROGRAM_VFSM for r in part.schedule) for p in range(images.shape.pipelines)]
        barrier = None if image.barrier is None else self.barriers.get(image.barrier)
        meets: list[str] = []
        delay = 0
        if barrier is not None:
            role = barrier.roles[0]
            delay = role.delay
            meets = [row(self._group(here, step, SYNC)) for step, here in enumerate(by_step(role.lanes))]
        last = [self.at[index] for index in image.last if index in self.at]
        values = (
            *(string(image.name), image.block, image.second if part.second else 0),
            *(len(entries) // codes.command_words, len(places), first),
            "PM_ENDS_FREELY" if image.technique == "none" else "PM_ENDS_TIMED",
            *(len(meets), tables.table("const pm_word", "entries", _words(entries))),
            *(
                tables.table("const struct pm_place", "places", places),
                tables.table("const pm_word", "annotations", _words(annotations)),
            ),
            *(tables.table("const uint16_t", "slots", slots), self._settles(part), len(part.settle)),
            *(tables.table("const struct pm_group", "groups", meets), delay, self._list("last", last)),
        )
        tables.lines.append(f"static const struct pm_phase phase_{part.phase} = {row(values)};")

    def _settles(self, part: NodePhase) -> str:
        return self.tables.table("const struct pm_settle", "settles", [row(one) for one in part.settle])

    def _list(self, name: str, numbers: Sequence[int]) -> str:
        """A list of numbers with its end marked; null for none."""
        return self.tables.table("const uint16_t", name, [*numbers, "PM_END"]) if numbers else "0"

    def _passage(self, left: int, entered: int, way: Sequence[int]) -> str:
        return row((left, entered, len(way), self.tables.table("const uint16_t", "way", list(way))))

    def _loader(self) -> list[int]:
        period = self.images.period
        vfsms = (REPROGRAM_VFSM,) * self.images.shape.pipelines
        words: list[int] = []
        for slot in reversed(range(period)):
            words += self.codes.write_entry(slot, ScheduleEntry(vfsms, (slot + LOOKAHEAD) % period))
        return [*words, *self.codes.set_pointer(0, 1)]

    # -- operators ---------------------------------------------------------------------------------------------

    def _entry(self, entry: Entry) -> str:
        here = sorted(
            (self.at[i] for i in entry.operators if i in self.at),
            key=lambda k: self.images.operators[self.operators[k][0]].phase,
        )
        group = entry.group if here else 0
        others = [
            one.operators[0] for one in self.entries if one.group == group and any(i in self.at for i in one.operators)
        ]
        last = int(bool(group) and others[-1] == entry.operators[0])
        return row((self.tables.table("const uint16_t", "of", here), len(here), group, last, string(entry.label)))

    def _operator(self, index: int, view: NodeOperator) -> str:
        images, tables = self.images, self.tables
        operator = images.operators[index]
        operands = len(operator.values[0])
        self.sizes.operands = max(self.sizes.operands, operands)
        roles = [self._role(operator, role) for role in view.roles]
        local = 0
        if any(role.local or role.kind == "both" for role in view.roles):
            local = self.sizes.local
            self.sizes.local += operator.m
        order = () if operator.continues else images.phases[operator.phase].order
        first = [self.at[one] for one, other in order if other == index and one in self.at and self._exchanges(one)]
        values = (
            *(string(operator.label), operator.phase, view.enters if operator.continues else -1, operator.m),
            *(_flags(images, index, operator), operator.stages, len(operator.values), operands),
            *(view.position, view.nodes, local),
            tables.table("const int32_t", "values", [signed(number) for value in operator.values for number in value]),
            tables.table("const uint16_t", "role_of", list(view.role_of)),
            tables.table("const struct pm_role", "roles", roles),
            *(self._list("continues", operator.continues), self._list("before", first)),
        )
        return row(values)

    def _exchanges(self, index: int) -> bool:
        return any(lane.turn != SYNC for role in self.operators[self.at[index]][1].roles for lane in role.lanes)

    def _role(self, operator: OperatorImage, role: Role) -> str:
        tables = self.tables
        groups: list[str] = []
        temporaries: dict[str, int] = {}
        steps = 1
        combined = list(role.combines)
        for turn in sorted({lane.turn for lane in role.lanes}):
            lanes = [lane for lane in role.lanes if lane.turn == turn]
            if turn != SYNC and role.by_item:
                # Message by message: each lane moves whole before the next begins, and its step is its number.
                whole, combined = whole_messages(lanes, combined)
                for step, lane in enumerate(whole):
                    groups.append(row(self._group([lane], step, turn, temporaries)))
                steps = max(steps, len(whole) + 1)
                continue
            for here in by_step(lanes):
                step = here[0].step
                if role.kind == "both" and turn != SYNC:
                    # Write and read functions each move their own lanes.
                    for way in (True, False):
                        some = [lane for lane in here if lane.write == way]
                        if some:
                            groups.append(row(self._group(some, step, turn, temporaries)))
                else:
                    groups.append(row(self._group(here, step, turn, temporaries)))
                steps = max(steps, step + 1)
        steps = max([steps, *(one.step + 1 for one in combined)])
        combines = [
            row((one.step, *(_message(name, temporaries) for name in (one.left, one.right, one.result))))
            for one in combined
        ]
        places = self.places.get(operator.phase, {})
        rewrites = [
            row((places[r.pipeline, r.vfsm], row(_words(self.codes.write_annotation(r.vfsm, r.annotation)))))
            for r in role.rewrites
        ]
        remotes = [row((register, f"0x{word:08x}u")) for register, word in role.commands]
        self.sizes.temporaries = max(self.sizes.temporaries, len(temporaries))
        self.sizes.temporary_words = max(self.sizes.temporary_words, (len(temporaries) + 2) * operator.m)
        values = (
            *(PARTS[role.kind], int(role.local), int(role.result), int(role.void)),
            int(_receives(role)),
            int(any(lane.turn != SYNC for lane in role.lanes)),
            int(any(lane.turn == SYNC for lane in role.lanes)),
            *(-1 if role.switch is None else role.switch, role.turns, steps, len(temporaries)),
            *(len(groups), len(combines), len(rewrites), len(remotes), role.delay),
            tables.table("const struct pm_group", "groups", groups),
            tables.table("const struct pm_combination", "combines", combines),
            tables.table("const struct pm_rewrite", "rewrites", rewrites),
            tables.table("const struct pm_remote", "remotes", remotes),
        )
        return row(values)

    def _group(
        self,
        lanes: Sequence[LaneImage],
        step: int,
        turn: int,
        temporaries: dict[str, int] | None = None,
    ) -> tuple[object, ...]:
        named = {} if temporaries is None else temporaries
        rows = []
        for lane in lanes:
            registers = self.tables.table("const uint8_t", "registers", list(lane.registers))
            after = -1 if lane.after is None else lane.after
            values = (
                *(registers, len(lane.registers), int(lane.write), _message(lane.data, named), int(lane.after_all)),
                *(after, -1 if lane.pair is None else lane.pair, f"{lane.window or 0}u"),
                -1 if lane.words is None else lane.words,
            )
            rows.append(row(values))
        self.sizes.lanes = max(self.sizes.lanes, len(rows))
        self.sizes.temporaries = max(self.sizes.temporaries, len(named))
        return (
            self.tables.table("const struct pm_lane", "lanes", rows),
            len(rows),
            step,
            "PM_SYNC" if turn == SYNC else turn,
        )


def _receives(role: Role) -> bool:
    """Does anything come into the message that a call of the node receives?"""
    return any(lane.data == "in" and not lane.write for lane in role.lanes) or any(
        one.result == "in" for one in role.combines
    )


def _message(name: str, temporaries: dict[str, int]) -> str:
    if name in MESSAGES:
        return MESSAGES[name]
    return f"PM_TEMPORARY + {temporaries.setdefault(name, len(temporaries))}"


def _words(words: Sequence[int]) -> list[str]:
    return [f"0x{word:08x}u" for word in words]


def _flags(images: Images, index: int, operator: OperatorImage) -> str:
    phase = images.phases[operator.phase]
    shared = any(other not in (index, phase.barrier, phase.online) for other in phase.operators)
    flags: Mapping[str, bool] = {
        "PM_SYNCHRONISED": operator.synchronised,
        "PM_GATED": operator.gated,
        "PM_REMOTE": operator.remote,
        "PM_PARTIAL": operator.partial,
        "PM_SHARED": shared,
        "PM_FUNCTIONAL": OPERATORS[operator.kind].flow == "functional",
    }
    return " | ".join(name for name, is_set in flags.items() if is_set) or "0"
