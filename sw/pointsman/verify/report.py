"""The judge's rules, the findings that break them, and the report in which findings are collected.

``RULES`` has for each rule its law in a sentence, the section of the source, and the modules that prove it. Every
module of the judge is handed the ``Notebook`` of the run and notes its findings there; none raises an error, none
repairs anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from textwrap import wrap
from typing import Any

from pointsman.artifacts.images.images import OperatorImage

WIDTH = 100
"""Most columns of a line that says what was looked at."""


@dataclass(frozen=True)
class Rule:
    """A rule that images must keep.

    Parameters
    ----------
    law : str
        The rule in one sentence.
    section : str
        Section of Metcalf 1997 from which it comes.
    proved_in : tuple of str
        Modules of ``pointsman.verify`` that note findings of the rule.
    """

    law: str
    section: str
    proved_in: tuple[str, ...]


RULES: dict[str, Rule] = {
    "structure": Rule(
        "Every number names something that is there, every table has its full size, and no field says what it cannot mean.",
        "§7.1",
        ("structure.structure", "structure.notes", "structure.roles", "structure.programs", "structure.fields"),
    ),
    "blocks": Rule(
        "The blocks of a node's phases lie behind the loader block and in the memory; a second schedule has one alone.",
        "§7.1.5",
        ("structure.structure",),
    ),
    "annotations": Rule(
        "Each VFSM that a schedule names has one annotation; 0 and 1 keep theirs, and no other has any.",
        "§7.1.5",
        ("structure.structure",),
    ),
    "codes": Rule(
        "Sources and destinations are codes of Table 7.1, and only VFSM 1 writes to MEMADR.",
        "Table 7.1",
        ("structure.notes",),
    ),
    "vfsm-numbers": Rule(
        "A phase that nodes leave each for itself and enter again has VFSMs of its own, as has one scheduled at run time.",
        "§5.4.2, §5.2.3",
        ("phases.reuse",),
    ),
    "rewrites": Rule(
        "A load function rewrites VFSMs of its own operator's phase, the same ones for every value, and none that words may pass "
        "meanwhile.",
        "§7.1.1",
        ("structure.roles", "phases.rewriting"),
    ),
    "moves": Rule(
        "Moves are flow-controlled and take the word along, so that no word is lost or doubled.",
        "§7.1.1",
        ("node.rules",),
    ),
    "links": Rule(
        "A word written to a link is read by exactly one VFSM at the other end in the next slot.",
        "§1.4, §7.1.1",
        ("node.rules", "words.trace"),
    ),
    "aliased-handshake": Rule(
        "With valid and accept on one wire, a link carries words one way only in a slot.", "§7.1.1", ("phases.links",)
    ),
    "interface-order": Rule(
        "No VFSM reads the interface in the slot after one of its pipeline that writes it.",
        "§7.1.1, §7.1.4",
        ("node.rules",),
    ),
    "back-to-back": Rule(
        "A VFSM other than 0 and 1 is never scheduled in two slots running.", "§7.1.1", ("node.rules",)
    ),
    "buffers": Rule(
        "A buffer has writers and one reader, is emptied before the next word comes, and VFSMs at a buffer keep the distances "
        "at which no turn is idle.",
        "§7.1.1, §7.1.4",
        ("node.rules",),
    ),
    "forks": Rule(
        "A fork names as source the link that the VFSM in the slot before writes, in every one of its slots; that VFSM "
        "is marked as forked; and no other phase has its second leg for that link there when the schedule changes.",
        "§7.1.1, §7.1.2",
        ("node.rules", "phases.rewriting"),
    ),
    "registers": Rule(
        "An interface register is read by one VFSM or by the processor, and what is written to it belongs to one stream; "
        "command registers serve VFSM 1 only; a phase that nodes leave each for itself keeps its registers.",
        "§7.1.1, §5.2.3",
        ("node.rules", "words.streams", "phases.reuse", "phases.skew"),
    ),
    "lanes": Rule(
        "A processor writes the registers from which the router sends, and reads all to which it delivers.",
        "§6.1",
        ("words.lanes", "structure.roles"),
    ),
    "reprogramming": Rule(
        "VFSM 1 runs in pipeline 0 of every phase that has a successor, and where load functions rewrite.",
        "§7.1.4",
        ("phases.links",),
    ),
    "promises": Rule(
        "Each word of a stream reaches each of its destinations once, in order, at the promised rate.",
        "§6.3.1",
        ("words.trace", "words.streams"),
    ),
    "stray": Rule("Every VFSM that can move a word belongs to a promised stream.", "§6.3.1", ("words.streams",)),
    "wires": Rule(
        "A link and slot written in two phases that can meet needs a barrier between them and time to settle.",
        "§5.3, Table 5.2",
        ("phases.links", "phases.skew"),
    ),
    "message-ends": Rule(
        "A node that leaves a phase for itself knows from its own messages that no more words come, and waits for those that it "
        "leaves behind; nobody gets through what closes a phase for several before all of them have come.",
        "§5.2.3",
        ("phases.ends", "phases.drain"),
    ),
    "settling": Rule(
        "A node that leaves a phase through a barrier waits until all that it has met have left it, too.",
        "§5.3.2",
        ("phases.settling",),
    ),
    "entered": Rule(
        "An operator that is rewritten before its phase is entered is alone in it, and between two uses every node that its "
        "words pass leaves the phase through one barrier; routers that are rewritten one by one lead words of all "
        "values along the same links.",
        "§4.1.1, §5.2.3",
        ("phases.preload", "phases.rewriting"),
    ),
    "online": Rule(
        "A message that processors pass on arrives wherever their tables say that it may go, in a queue of its operator.",
        "§4.2",
        ("words.online",),
    ),
    "threads": Rule(
        "A node comes to all of its phases on its own ways; words stay with the nodes of their phase, and a barrier joins the "
        "ends of every link and whoever uses that link and slot next.",
        "§5.2.3, §6.1.2",
        ("phases.threads",),
    ),
    "gates": Rule(
        "The word that opens a barrier in the router passes no node that has not entered.", "B.1", ("node.gates",)
    ),
    "schedules": Rule(
        "The schedules of one operator differ in their values only, and each can follow wherever one of them can.",
        "§4.1.1, §4.1.3",
        ("structure.value_schedules",),
    ),
    "rings": Rule(
        "Where a schedule is made at run time, compiled streams lead from each node of an instance to the next, so that messages "
        "can be passed on if slots are lacking.",
        "§4.1.1",
        ("structure.rings",),
    ),
    "knowledge": Rule(
        "Where a node knows of a value only whether it names the node itself, it does the same for all values that do not, and "
        "no router depends on the value.",
        "A.4",
        ("structure.knowledge",),
    ),
    "continuing": Rule(
        "An operator that continues has the same VFSMs, annotations and registers in all of its phases, which nothing else uses; "
        "in any two of them neighbours hand its words to the same VFSMs or refuse them, and agree in a slot; and it is over "
        "before a node goes on to a phase without it.",
        "§5.1, Table 5.2",
        ("phases.continuing",),
    ),
    "commands": Rule(
        "Commands that a node sends to others leave every annotation that they may write as the roles for the value have it, and "
        "have taken effect before the words that follow them can come.",
        "§4.1.1, B.1 str_stream_dyn",
        ("words.commands",),
    ),
    "subphases": Rule(
        "Two schedules of a phase run the same VFSMs and hand each word to the same ones, also from one to the other; what both "
        "have in common carries every stream.",
        "§4.1.3, B.1 sch_prefix",
        ("node.subphases", "structure.structure"),
    ),
    "meaning": Rule(
        "Each function of each node returns the message of the operator's definition, word by word, for every run-time value; "
        "all return, and no word is left.",
        "A.1",
        (
            "meaning.meaning",
            "meaning.messages",
            "meaning.made",
            "meaning.replaced",
            "phases.broadcast_barriers",
            "structure.programs",
        ),
    ),
    "passages": Rule("A node passes every phase in which its router has a part.", "§5.2, §5.5.2", ("phases.passages",)),
}
"""Every rule by name. Sections are those of Metcalf 1997."""

STOPPING = "structure"
"""The rule after whose findings no other rule is checked."""


@dataclass(frozen=True)
class Finding:
    """A broken rule.

    Parameters
    ----------
    rule : str
        Key of ``RULES``.
    message, right : str
        What is wrong, and what would be right.
    phase : str or None
        Name of the phase.
    node, pipeline, slot, vfsm : int or None
        Where in the hardware.
    operator, source : str or None
        Label of the operator concerned and its place in the COP text.
    values : tuple of str
        Run-time values for which the rule is broken; empty if they make no difference.
    """

    rule: str
    message: str
    right: str
    phase: str | None = None
    node: int | None = None
    pipeline: int | None = None
    slot: int | None = None
    vfsm: int | None = None
    operator: str | None = None
    source: str | None = None
    values: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The place of the finding in words: "phase A, node 3, slot 5"."""
        parts = [] if self.phase is None else [f"phase {self.phase}"]
        for name in ("node", "pipeline", "slot"):
            value = getattr(self, name)
            if value is not None:
                parts.append(f"{name} {value}")
        if self.vfsm is not None:
            parts.append(f"VFSM {self.vfsm}")
        if self.operator is not None:
            parts.append(f"operator {self.operator}" + (f" ({self.source})" if self.source else ""))
        return ", ".join(parts)

    def render(self) -> str:
        """The finding as a text of a few lines."""
        when = f"\n    for: {'; '.join(self.values)}" if self.values else ""
        place = f"{self.place}: " if self.place else ""
        return (
            f"{self.rule}: {place}{self.message}{when}\n"
            f"    right: {self.right} (Metcalf 1997 {RULES[self.rule].section})"
        )


@dataclass(frozen=True)
class CheckReport:
    """The judgement of images.

    Parameters
    ----------
    name : str
        Name of the images.
    findings : tuple of Finding
        Broken rules in the order of ``RULES``.
    counts : mapping
        Number of things checked, by kind ("streams followed": 12).
    more : mapping
        By rule, how many findings there were beyond those kept.
    unchecked : tuple of str
        Checks that were left out, and why.
    """

    name: str
    findings: tuple[Finding, ...]
    counts: Mapping[str, int]
    more: Mapping[str, int] = field(default_factory=dict)
    unchecked: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """No rule is broken."""
        return not self.findings

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the broken rules, each once."""
        return tuple(dict.fromkeys(finding.rule for finding in self.findings))

    def render(self) -> str:
        """The report as text."""
        lines = [finding.render() for finding in self.findings]
        lines += [f"{rule}: {count} more findings of this kind" for rule, count in self.more.items()]
        lines += [f"not checked: {what}" for what in self.unchecked]
        broken = len(self.findings) + sum(self.more.values())
        verdict = "all rules hold" if self.ok else f"{broken} finding{'s' if broken > 1 else ''}"
        counts = ", ".join(f"{kind} {count:,}" for kind, count in self.counts.items())
        lines.append(f"{self.name}: {verdict}")
        if counts:
            lines += wrap(counts, WIDTH, initial_indent="  looked at: ", subsequent_indent="    ")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "name": self.name,
            "ok": self.ok,
            "findings": [
                {**asdict(finding), "values": list(finding.values), "section": RULES[finding.rule].section}
                for finding in self.findings
            ],
            "counts": dict(self.counts),
            "more": dict(self.more),
            "unchecked": list(self.unchecked),
        }


class Notebook:
    """Collects findings; findings that differ only in their run-time values are joined."""

    KEPT = 100
    """Most findings kept for each rule."""
    KEPT_VALUES = 4
    """Most run-time values named in a finding."""

    def __init__(self) -> None:
        self._values: dict[Finding, list[str]] = {}
        self._kept: Counter[str] = Counter()
        self._more: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        self.unchecked: list[str] = []

    def note(self, rule: str, message: str, right: str, operator: OperatorImage | None = None, **place: Any) -> None:
        """Note that a rule is broken; ``operator``: whose words are concerned, ``place``: more fields of ``Finding``."""
        if operator is not None:
            place |= {"operator": operator.label, "source": operator.source}
        self.add(Finding(rule, message, right, **place))

    def leave_out(self, what: str) -> None:
        """Have the report say, once, what is not checked and why."""
        if what not in self.unchecked:
            self.unchecked.append(what)

    def add(self, finding: Finding) -> None:
        """Note a finding; its ``values`` are joined with those of an otherwise equal finding."""
        values = finding.values
        finding = replace(finding, values=())
        known = self._values.get(finding)
        if known is None:
            if self._kept[finding.rule] == self.KEPT:
                self._more[finding.rule] += 1
                return
            self._kept[finding.rule] += 1
            known = self._values[finding] = []
        for value in values:
            if value not in known and len(known) <= self.KEPT_VALUES:
                known.append(value if len(known) < self.KEPT_VALUES else "…")

    @property
    def broken(self) -> bool:
        """Whether any rule is broken."""
        return bool(self._values)

    @property
    def stopped(self) -> bool:
        """Whether the rule ``STOPPING`` is broken, so that no other can be checked."""
        return bool(self._kept[STOPPING])

    def report(self, name: str, owners: Mapping[tuple[str, int, int, int], tuple[str, str]]) -> CheckReport:
        """The report of all findings. ``owners``: label and source of the operator to which a VFSM belongs, by (name of
        the phase, node, pipeline, VFSM)."""
        order = {rule: i for i, rule in enumerate(RULES)}
        findings = []
        for finding, values in self._values.items():
            label, source = finding.operator, finding.source
            if label is None and finding.vfsm is not None:
                key = (finding.phase or "", finding.node or 0, finding.pipeline or 0, finding.vfsm)
                label, source = owners.get(key, (None, None))
            findings.append(replace(finding, operator=label, source=source, values=tuple(values)))
        findings.sort(key=lambda finding: order[finding.rule])
        return CheckReport(name, tuple(findings), dict(self.counts), dict(self._more), tuple(self.unchecked))
