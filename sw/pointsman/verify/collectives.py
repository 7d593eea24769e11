"""The judge of collectives in the ideal model: replays every word and works out what each node ends with.

Takes a problem and its result; gives a report. Shares nothing with what made the schedule.

Rules: moves use working links; a word never waits (a copy leaves a node in the slot in which it came, a partial result in the
slot in which those
that it is made of come); no word enters a node twice, and no partial result leaves one twice; in a slot each link, injection
port and
ejection port carries at most one word. Every node ends with what the kind promises: each word once everywhere. Results of
reductions are
followed as terms, lists of the nodes whose words were combined, from left to right; where the order of the numbers is
promised, it must be that.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pointsman.artifacts.routes.collectives import COMBINING, CollectiveProblem, CollectiveResult, CollectiveWord

from .routes import IdealReport

MAX_TERMS = 3_000_000
"""Moves up to which terms are followed one by one; beyond, that every node's word comes in once follows from the moves' form."""

Item = tuple[int, ...]


def check_collective(result: CollectiveResult) -> IdealReport:
    """Judge a collective."""
    return _Judge(result).run()


class _Judge:
    def __init__(self, result: CollectiveResult) -> None:
        self.result = result
        self.problem: CollectiveProblem = result.problem
        self.report = IdealReport()
        net = self.problem.net
        self.nodes = np.array(self.problem.nodes, np.int64)
        links = np.array(net.links, np.int64).reshape(-1, 2)
        self.keys = links[:, 0] * net.nodes + links[:, 1]
        self.links = np.append(self.keys, net.nodes**2)
        """``keys``, and one that is greater than that of any link."""
        self.count = net.nodes
        rows = len(links) + 2 * net.nodes
        # One byte a cell: links, then injection ports, then ejection ports.
        self.used = np.zeros((rows, max(1, result.period)), np.bool_)
        self.ends: dict[Item, list[tuple[np.ndarray, tuple[int, ...] | None]]] = {}
        self.first, self.last = 1 << 60, -(1 << 60)
        self.by_terms = result.moves <= MAX_TERMS

    def run(self) -> IdealReport:
        report, period = self.report, self.result.period
        if not isinstance(period, int) or isinstance(period, bool) or period < 1:
            report.add(f"a period must be at least one slot, not {period!r}")
            return report
        if self.result.ordered and not self.by_terms and self.problem.kind in COMBINING:
            report.add("the order of combining is promised and cannot be followed: there are too many moves")
        for word in self.result.words:
            self._word(word)
            if len(report.findings) >= 100:
                return report
        self._ends()
        if self.result.words and self.last - self.first != self.result.latency:
            report.add(f"the latency is {self.last - self.first} slots, not {self.result.latency}")
        if self.problem.ordered and not self.result.ordered:
            report.add("words must be combined in the order of the nodes' numbers, and are not")
        for bound, value in ((self.result.bound, period), (self.result.latency_bound, self.result.latency)):
            if bound is not None and value < bound.value:
                report.add(f"{value} slots are below the bound of {bound.value} ({bound.kind})")
        return report

    def _word(self, word: CollectiveWord) -> None:
        self.report.words += 1
        name = f"word {word.item}"
        if not self._is_node(word.centre):
            self.report.add(f"{name}: its centre {word.centre} is no working node")
            return
        inward, outward = word.inward, word.outward
        if not self._links(name, inward) or not self._links(name, outward):
            return
        moment = np.full(self.count, -1 << 40, np.int64)
        term: tuple[int, ...] | None = (word.centre,)
        injections, slots = [word.centre][: word.own], [word.slot][: word.own]
        if len(inward):
            # When a partial result leaves each node; those that come must come then.
            if len(np.unique(inward[:, 0])) < len(inward) or word.centre in inward[:, 0]:
                self.report.add(f"{name}: a partial result leaves a node twice, or the centre")
                return
            moment[inward[:, 0]] = inward[:, 1]
            moment[word.centre] = word.slot
            wrong = np.flatnonzero(moment[inward[:, 2]] != inward[:, 1] + 1)
            if len(wrong):
                before, slot, after = inward[wrong[0]].tolist()
                self.report.add(f"{name}: from {before} to {after} in slot {slot} comes when nothing leaves {after}")
                return
            injections += inward[:, 0].tolist()
            slots += inward[:, 1].tolist()
            term = self._term(word) if self.by_terms else None
        elif not word.own:
            self.report.add(f"{name}: it comes from nowhere")
            return
        ends = np.array(word.destinations, np.int64).reshape(-1)
        if len(outward):
            if len(np.unique(outward[:, 2])) < len(outward) or word.centre in outward[:, 2]:
                self.report.add(f"{name}: it enters a node twice")
                return
            moment[:] = -1 << 40
            moment[word.centre] = word.slot
            moment[outward[:, 2]] = outward[:, 1] + 1
            wrong = np.flatnonzero(moment[outward[:, 0]] != outward[:, 1])
            if len(wrong):
                before, slot, after = outward[wrong[0]].tolist()
                self.report.add(f"{name}: leaves {before} for {after} in slot {slot}, when it is not there")
                return
            useless = np.setdiff1d(outward[:, 2], np.concatenate([outward[:, 0], ends]))
            if len(useless):
                self.report.add(f"{name}: it ends at node {int(useless[0])}, which is no destination")
        if len(np.unique(ends)) < len(ends) or word.centre in ends:
            self.report.add(f"{name}: it is delivered twice at a node")
            return
        entered = outward[:, 2] if len(outward) else ends[:0]
        if not np.isin(ends, entered).all():
            self.report.add(f"{name}: it is delivered where it never comes")
            return
        taken, when = [ends], [moment[ends]]
        if word.kept:
            taken.append(np.array([word.centre]))
            when.append(np.array([word.slot]))
        kept = np.concatenate(taken)
        times = np.concatenate(when)
        links = len(self.keys)
        self._cells(name, np.searchsorted(self.keys, self._key(inward)), inward[:, 1])
        self._cells(name, np.searchsorted(self.keys, self._key(outward)), outward[:, 1])
        self._cells(name, links + np.array(injections, np.int64), np.array(slots, np.int64))
        self._cells(name, links + self.count + kept, times)
        self.first = min([self.first, *slots])
        if len(times):
            self.last = max(self.last, int(times.max()))
        self.ends.setdefault(tuple(word.item), []).append((kept, term))

    def _is_node(self, node: int) -> bool:
        at = int(np.searchsorted(self.nodes, node))
        return at < len(self.nodes) and int(self.nodes[at]) == node

    def _key(self, moves: np.ndarray) -> np.ndarray:
        key: np.ndarray = moves[:, 0] * self.count + moves[:, 2]
        return key

    def _links(self, name: str, moves: np.ndarray) -> bool:
        if not len(moves):
            return True
        if moves[:, [0, 2]].min() < 0 or moves[:, [0, 2]].max() >= self.count:
            self.report.add(f"{name}: it moves to a node that does not exist")
            return False
        key = self._key(moves)
        # A search for each move, as keys ascend: `np.isin` would look through all links for each word.
        at = np.searchsorted(self.links, key)
        wrong = np.flatnonzero(self.links[at] != key)
        if len(wrong):
            before, _, after = moves[wrong[0]].tolist()
            self.report.add(f"{name}: there is no working link {before} -> {after}")
        return not len(wrong)

    def _cells(self, name: str, rows: np.ndarray, slots: np.ndarray) -> None:
        """Mark cells as used; a cell that was used is a finding."""
        slots = slots % self.result.period
        flat = rows * self.used.shape[1] + slots
        taken = self.used[rows, slots].any() or len(np.unique(flat)) < len(flat)
        if taken:
            clash = np.flatnonzero(self.used[rows, slots])
            at = int(clash[0]) if len(clash) else 0
            self.report.add(f"{name}: {self._row(int(rows[at]))} is used already in slot {int(slots[at])}")
        self.used[rows, slots] = True

    def _row(self, row: int) -> str:
        if row < len(self.keys):
            return f"link {int(self.keys[row]) // self.count} -> {int(self.keys[row]) % self.count}"
        port, node = divmod(row - len(self.keys), self.count)
        return f"the {('injection', 'ejection')[port]} port of node {node}"

    def _term(self, word: CollectiveWord) -> tuple[int, ...]:
        """What is combined at the centre, as it comes: at each node the parts are put in the order of their first
        node numbers."""
        parts: dict[int, list[tuple[int, ...]]] = {}
        for before, _, after in word.inward[np.argsort(word.inward[:, 1], kind="stable")].tolist():
            parts.setdefault(after, []).append(_joined([*parts.pop(before, []), (before,)]))
        own = [(word.centre,)] if word.own else []
        return _joined([*parts.pop(word.centre, []), *own])

    def _ends(self) -> None:
        """Does every node end with what it should?"""
        expected = dict(_promised(self.problem))
        for item in self.ends.keys() - expected.keys():
            self.report.add(f"word {item} is nobody's")
        for item, (destinations, wanted) in expected.items():
            found = self.ends.get(item, [])
            if len(found) == 1 and wanted is not None:
                nodes, term = found[0]
                if term is not None and term != wanted:
                    self.report.add(f"word {item} is of {term}, not of {wanted}")
                if not np.array_equal(np.sort(nodes), destinations):
                    self.report.add(
                        f"word {item} must be delivered at {_some(destinations)}, not at {_some(np.sort(nodes))}"
                    )
            elif wanted is not None:
                self.report.add(f"word {item} must be sent once, not {len(found)} times")
            else:
                self._combined(item, destinations, found)
            if len(self.report.findings) >= 100:
                return

    def _combined(
        self, item: Item, destinations: np.ndarray, found: list[tuple[np.ndarray, tuple[int, ...] | None]]
    ) -> None:
        """A reduction's result: at each destination the parts, with its own word if none has it, are of all nodes, each once."""
        every = tuple(self.problem.nodes)
        parts: dict[int, list[tuple[int, ...]]] = {int(node): [] for node in destinations}
        if any(term is None for _, term in found):
            # Too many moves for terms: a word with a move from every node but the centre has each once, by its form.
            if len(found) != 1 or not np.array_equal(np.sort(found[0][0]), destinations):
                self.report.add(f"result {item} must come once, at {_some(destinations)}")
            return
        for nodes, term in found:
            assert term is not None
            for node in nodes.tolist():
                if node not in parts:
                    self.report.add(f"result {item} is delivered at node {node}, which does not want it")
                else:
                    parts[node].append(term)
        results = set()
        for node, terms in parts.items():
            have = [one for term in terms for one in term]
            if node not in have:
                terms = [*terms, (node,)]
            whole = _joined(terms)
            if tuple(sorted(whole)) != every:
                self.report.add(
                    f"result {item} at node {node} is of {_some(np.array(sorted(whole)))}, not of each node once"
                )
                return
            results.add(whole)
            if self.result.ordered and whole != every:
                self.report.add(f"result {item} at node {node} is combined in the order {_some(np.array(whole))}")
                return
        if len(results) > 1:
            self.report.add(f"result {item} is combined in different orders at different nodes")


def _joined(parts: list[tuple[int, ...]]) -> tuple[int, ...]:
    """Parts next to each other, that with the lowest first number first: what a node can do that knows their numbers."""
    return tuple(one for part in sorted(parts) for one in part)


def _some(nodes: np.ndarray) -> str:
    shown = ", ".join(map(str, nodes[:8].tolist()))
    return f"[{shown}{', …' * (len(nodes) > 8)}]"


def _promised(problem: CollectiveProblem) -> Iterator[tuple[Item, tuple[np.ndarray, tuple[int, ...] | None]]]:
    """Each word with its destinations and its source; of results of reductions the source is None."""
    nodes, root = np.array(problem.nodes, np.int64), problem.root
    kind = problem.kind
    if len(nodes) < 2:
        return
    for index in range(problem.words):
        if kind == "broadcast":
            yield (index,), (nodes[nodes != root], (root,))
        elif kind == "reduce":
            yield (index,), (np.array([root]), None)
        elif kind == "all-reduce":
            yield (index,), (nodes, None)
        elif kind == "all-to-all":
            for a in problem.nodes:
                for b in problem.nodes:
                    if a != b:
                        yield (a, b, index), (np.array([b]), (a,))
        elif kind == "halo":
            for a, b in problem.net.links:
                yield (a, b, index), (np.array([b]), (a,))
        elif kind in ("shift", "reversal"):
            for place, a in enumerate(problem.nodes):
                other = (place + 1) % len(nodes) if kind == "shift" else len(nodes) - 1 - place
                if other != place:
                    yield (a, int(nodes[other]), index), (nodes[[other]], (a,))
        else:
            for node in problem.nodes:
                if kind == "all-gather":
                    yield (node, index), (nodes[nodes != node], (node,))
                elif kind == "reduce-scatter":
                    yield (node, index), (np.array([node]), None)
                elif node != root:
                    ends = (root, (node,)) if kind == "gather" else (node, (root,))
                    yield (node, index), (np.array([ends[0]]), ends[1])
