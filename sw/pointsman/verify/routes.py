"""The judge of routes in the ideal model: replays every word of a result and counts the links and ports that it uses.

Takes a problem and its result; gives a report. Shares nothing with the router.

Rules: a stream has as many words as the problem says; each takes a tree of working links from the source to all
destinations that enters no node twice; a word leaves a node in a slot in which it is there; it waits only where buffers
are allowed; it is delivered in the slot in which it arrives; and in a slot each link, injection port and ejection port
carries at most one word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pointsman.artifacts.routes.routes import RouteProblem, RouteResult

MAX_FINDINGS = 100


@dataclass
class IdealReport:
    """Broken rules in words, at most ``MAX_FINDINGS``, and the number of words replayed."""

    findings: list[str] = field(default_factory=list)
    words: int = 0

    @property
    def ok(self) -> bool:
        return not self.findings

    def add(self, text: str) -> None:
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(text)

    def render(self) -> str:
        if self.ok:
            return f"{self.words} words: every rule of the ideal model holds"
        return "\n".join(self.findings)


def check_ideal(problem: RouteProblem, result: RouteResult) -> IdealReport:
    """Judge ``result`` against ``problem``."""
    report = IdealReport()
    period = result.period
    if not _whole(period) or period < 1:
        report.add(f"a period must be at least one slot, not {period!r}")
        return report
    if len(result.streams) != len(problem.streams):
        report.add(f"there must be {len(problem.streams)} streams, not {len(result.streams)}")
        return report
    links = frozenset(problem.links)
    users: dict[tuple[str, int, int, int], tuple[int, int]] = {}
    for index, (stream, routed) in enumerate(zip(problem.streams, result.streams, strict=True)):
        if len(routed.words) != stream.words:
            report.add(f"stream {index} must have {stream.words} words, not {len(routed.words)}")
        if abs(routed.bandwidth - len(routed.words) / period) > 1e-12:
            report.add(
                f"stream {index}: {len(routed.words)} words in {period} slots are no bandwidth of {routed.bandwidth}"
            )
        for number, word in enumerate(routed.words):
            report.words += 1
            replay = _Replay(f"stream {index}, word {number}", links, period, problem.buffers, report)
            for cell in replay.run(word, stream.source, stream.destinations):
                if cell in users:
                    other = users[cell]
                    report.add(
                        f"{_name(cell)} carries word {number} of stream {index} and word {other[1]} of stream {other[0]}"
                    )
                users[cell] = (index, number)
    return report


def _name(cell: tuple[str, int, int, int]) -> str:
    kind, node, after, slot = cell
    place = f"link {node} -> {after}" if kind == "link" else f"the {kind} port of node {node}"
    return f"slot {slot}: {place}"


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


class _Replay:
    """Replays a word: checks its moves and lists the resources that it uses."""

    def __init__(
        self, name: str, links: frozenset[tuple[int, int]], period: int, buffers: bool, report: IdealReport
    ) -> None:
        self.name = name
        self.links = links
        self.period = period
        self.buffers = buffers
        self.report = report

    def wrong(self, text: str) -> None:
        self.report.add(f"{self.name}: {text}")

    def run(
        self, word: Iterable[Sequence[object]], source: int, destinations: Sequence[int]
    ) -> list[tuple[str, int, int, int]]:
        """Resources that the word uses: ("link", from, to, slot), ("injection" or "ejection", node, -1, slot)."""
        injected: list[tuple[int, int]] = []
        hops: list[tuple[int, int, int]] = []
        waits: dict[int, list[int]] = {}
        taken: list[tuple[int, int]] = []
        for move in word:
            if len(move) != 5:
                self.wrong(f"a move must be [from, slot, to, pipeline, vfsm], not {move!r}")
                return []
            before, slot, after, pipeline, vfsm = move
            if not isinstance(slot, int) or isinstance(slot, bool) or not 0 <= slot < self.period:
                self.wrong(f"a slot must be 0..{self.period - 1}, not {slot!r}")
                return []
            if pipeline is not None or vfsm is not None:
                self.wrong("pipeline and vfsm must be null in the ideal model")
            if before is None and isinstance(after, int):
                injected.append((after, slot))
            elif after is None and isinstance(before, int):
                taken.append((before, slot))
            elif isinstance(before, int) and isinstance(after, int):
                if before == after:
                    waits.setdefault(before, []).append(slot)
                else:
                    hops.append((before, slot, after))
            else:
                self.wrong(f"a move must have a node at one end at least, not {move!r}")
                return []
        if len(injected) != 1 or injected[0][0] != source:
            self.wrong(f"a word must be injected once, at node {source}, not {injected}")
            return []
        if waits and not self.buffers:
            self.wrong(f"a word waits at node {next(iter(waits))}, and there are no buffers")
        start = injected[0][1]
        arrivals = self._follow(source, start, hops, waits)
        if not any(before == source and slot == start for before, slot, _ in hops):
            self.wrong(f"the first link move must be in the slot of the injection, {start}")
        self._deliveries(arrivals, taken, destinations, hops)
        cells = [("injection", source, -1, start)]
        cells += [("link", before, after, slot) for before, slot, after in hops]
        cells += [("ejection", node, -1, slot) for node, slot in taken]
        if len(set(cells)) < len(cells):
            self.wrong("a word makes the same move twice")
        return sorted(set(cells))

    def _follow(
        self, source: int, start: int, hops: list[tuple[int, int, int]], waits: dict[int, list[int]]
    ) -> dict[int, int]:
        """By node of the tree, the slot in which the word arrives there (at the source, in which it is injected)."""
        arrivals = {source: start}
        leaving: dict[int, list[tuple[int, int]]] = {}
        for before, slot, after in hops:
            if (before, after) not in self.links:
                self.wrong(f"there is no working link {before} -> {after}")
            leaving.setdefault(before, []).append((slot, after))
        for node in waits:
            if len(set(waits[node])) < len(waits[node]):
                self.wrong(f"a word waits at node {node} twice in one slot")
        queue = [source]
        for node in queue:
            here = {arrivals[node]}
            last = arrivals[node]
            left = set(waits.get(node, ()))
            while last in left:
                left.discard(last)
                last = (last + 1) % self.period
                here.add(last)
            if left:
                self.wrong(f"a word waits at node {node} in slots {sorted(left)}, when it is not there")
            moves = leaving.get(node, [])
            if waits.get(node) and last not in {slot for slot, _ in moves}:
                self.wrong(f"a word waits at node {node} and does not leave it afterwards")
            for slot, after in moves:
                if slot not in here:
                    self.wrong(f"a word leaves node {node} in slot {slot}; it is there in {sorted(here)}")
                if after in arrivals:
                    self.wrong(f"a word enters node {after} twice")
                    continue
                arrivals[after] = (slot + 1) % self.period
                queue.append(after)
        for node in {*leaving, *waits} - arrivals.keys():
            self.wrong(f"a word moves at node {node}, where it never comes")
        return arrivals

    def _deliveries(
        self,
        arrivals: dict[int, int],
        taken: list[tuple[int, int]],
        destinations: Sequence[int],
        hops: list[tuple[int, int, int]],
    ) -> None:
        nodes = [node for node, _ in taken]
        if sorted(nodes) != sorted(destinations):
            self.wrong(f"a word must be delivered once at each of {sorted(destinations)}, not at {sorted(nodes)}")
        for node, slot in taken:
            if arrivals.get(node) != slot:
                self.wrong(f"a word is delivered at node {node} in slot {slot}; it comes in slot {arrivals.get(node)}")
        ends = {after for _, _, after in hops} - {before for before, _, _ in hops}
        for node in sorted(ends - set(destinations)):
            self.wrong(f"a word ends at node {node}, which is no destination")
