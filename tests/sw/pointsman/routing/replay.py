"""Judge of routed phases for the tests: plain code from the rules of the node, sharing nothing with the router.

``findings(phase)`` lists what is wrong. Half of it reads the schedule as it stands; the other half lets words run
through it, cycle by cycle, knowing nothing of chains but the annotations of their VFSMs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection

from numesh.codes import MoveType
from pointsman.routing.streams import RoutedChain, RoutedPhase, RoutedVfsm

Key = tuple[int, int, int]


def findings(
    phase: RoutedPhase, *, forbidden: Collection[tuple[int, int, int]] = (), phase_change: bool = True
) -> list[str]:
    """Everything that is wrong with ``phase``, in words."""
    wrong = _structure(phase)
    if wrong:
        return wrong
    table = _table(phase, wrong)
    if wrong:
        return wrong
    _streams(phase, wrong)
    _neighbouring_slots(phase, table, wrong)
    _words_in_step(phase, wrong)
    _interface(phase, table, wrong)
    _reprogramming(phase, table, wrong, phase_change)
    _registers(phase, wrong)
    _links(phase, wrong, forbidden)
    _run(phase, table, wrong)
    return wrong


def _structure(phase: RoutedPhase) -> list[str]:
    """Numbers in range and annotations that a node knows."""
    wrong = []
    numbers: set[Key] = set()
    for index, chain in enumerate(phase.chains):
        if not chain.vfsms:
            return [f"chain {index} is empty"]
        words = len(chain.vfsms[0].slots)
        if not words:
            wrong.append(f"chain {index} carries no words")
        for place, vfsm in enumerate(chain.vfsms):
            name = f"chain {index} vfsm {place}"
            if not (0 <= vfsm.node < phase.topology.nodes and 0 <= vfsm.pipeline < phase.shape.pipelines):
                wrong.append(f"{name}: no such node or pipeline")
            if not 2 <= vfsm.number < phase.shape.vfsms:
                wrong.append(f"{name}: number {vfsm.number} out of range")
            key = (vfsm.node, vfsm.pipeline, vfsm.number)
            if key in numbers:
                wrong.append(f"{name}: number {key} given twice")
            numbers.add(key)
            if len(vfsm.slots) != words or any(not 0 <= slot < phase.period for slot in vfsm.slots):
                wrong.append(f"{name}: slots {vfsm.slots} are not {words} slots of the period")
            if not -1 <= vfsm.parent < place or (vfsm.parent < 0) != (place == 0):
                wrong.append(f"{name}: parent {vfsm.parent}")
            if vfsm.type not in (MoveType.MOVE, MoveType.FORK):
                wrong.append(f"{name}: type {vfsm.type}")
            if vfsm.source.kind not in ("link", "inject", "buffer"):
                wrong.append(f"{name}: source {vfsm.source.kind}")
            if vfsm.destination.kind not in ("link", "deliver", "buffer"):
                wrong.append(f"{name}: destination {vfsm.destination.kind}")
            if vfsm.type is MoveType.FORK and vfsm.source.kind != "link":
                wrong.append(f"{name}: a fork leg from {vfsm.source.kind}")
            if (vfsm.source.kind == "inject") != (place == 0):
                wrong.append(f"{name}: only the first VFSM injects")
            for end in (vfsm.source, vfsm.destination):
                if end.kind == "link" and end.number not in phase.topology.at_port[vfsm.node]:
                    wrong.append(f"{name}: node {vfsm.node} has no link at port {end.number}")
    return wrong


def _table(phase: RoutedPhase, wrong: list[str]) -> dict[Key, tuple[RoutedChain, RoutedVfsm]]:
    """Who runs at (node, pipeline, slot)."""
    table: dict[Key, tuple[RoutedChain, RoutedVfsm]] = {}
    for chain in phase.chains:
        for vfsm in chain.vfsms:
            for slot in vfsm.slots:
                key = (vfsm.node, vfsm.pipeline, slot)
                if key in table:
                    wrong.append(f"two VFSMs at {key}")
                table[key] = chain, vfsm
    return table


def _streams(phase: RoutedPhase, wrong: list[str]) -> None:
    """Every stream is carried from its source to its destinations, on nodes that it may use, in equal chains."""
    shares: dict[str, set[int]] = defaultdict(set)
    for index, stream in enumerate(phase.streams):
        chains = [chain for chain in phase.chains if chain.stream == index]
        name = f"stream {stream.name}"
        if not chains:
            wrong.append(f"{name} is not routed")
        if len(chains) > stream.chains or [chain.chain for chain in chains] != list(range(len(chains))):
            wrong.append(f"{name} has chains {[chain.chain for chain in chains]}")
        if len({chain.words for chain in chains}) > 1:
            wrong.append(f"{name} has unequal chains: a processor serves them in turn")
        shares[stream.group].add(phase.words(index))
        if stream.max_words is not None and phase.words(index) > stream.max_words:
            wrong.append(f"{name} gets more words than wanted")
        for chain in chains:
            first = chain.vfsms[0]
            if first.node != stream.source:
                wrong.append(f"{name} starts at node {first.node}")
            ends = sorted(v.node for v in chain.vfsms if v.destination.kind == "deliver")
            if ends != sorted(stream.destinations):
                wrong.append(f"{name} ends at nodes {ends}")
            if stream.keep_in is not None and any(v.node not in stream.keep_in for v in chain.vfsms):
                wrong.append(f"{name} leaves its nodes")
            if stream.path is not None:
                hops = [
                    (v.node, phase.topology.at_port[v.node][v.destination.number][0])
                    for v in chain.vfsms
                    if v.destination.kind == "link"
                ]
                if hops != list(zip(stream.path, stream.path[1:], strict=False)):
                    wrong.append(f"{name} leaves its path: {hops}")
    for group, words in shares.items():
        if len(words) > 1:
            wrong.append(f"group {group!r} has unequal words {sorted(words)}")


def _neighbouring_slots(phase: RoutedPhase, table: dict[Key, tuple[RoutedChain, RoutedVfsm]], wrong: list[str]) -> None:
    """NUM-07, and what comes before a fork leg (NUM-10)."""
    for (node, pipeline, slot), (chain, vfsm) in table.items():
        before = table.get((node, pipeline, (slot - 1) % phase.period))
        if before is not None and before[1] is vfsm:
            wrong.append(f"a VFSM runs in slots {slot - 1} and {slot} of node {node}")
        if vfsm.type is MoveType.FORK:
            if before is None or before[0] is not chain or before[1].destination != vfsm.source:
                wrong.append(f"the fork leg in slot {slot} of node {node} does not follow its first leg")


def _words_in_step(phase: RoutedPhase, wrong: list[str]) -> None:
    """Word by word, a VFSM runs one slot after the one before it; out of its buffer two slots or more."""
    period = phase.period
    for chain in phase.chains:
        for vfsm in chain.vfsms:
            steps = [(b - a) % period for a, b in zip(vfsm.slots, (*vfsm.slots[1:], vfsm.slots[0]), strict=True)]
            if len(vfsm.slots) > 1 and (0 in steps or sum(steps) != period):
                wrong.append(f"the words of a VFSM at node {vfsm.node} do not follow each other: {vfsm.slots}")
            readers = [
                v
                for v in chain.vfsms
                if v.source.kind == "buffer"
                and (v.node, v.pipeline, v.source.number) == (vfsm.node, vfsm.pipeline, vfsm.number)
            ]
            if vfsm.destination.kind == "buffer":
                if vfsm.destination.number != vfsm.number or len(readers) != 1:
                    wrong.append(f"a delay at node {vfsm.node} writes a buffer that is not its own or is not read")
            elif readers:
                wrong.append(f"a VFSM at node {vfsm.node} reads a buffer that nobody fills")
            if vfsm.parent < 0:
                continue
            parent = chain.vfsms[vfsm.parent]
            delayed = vfsm.source.kind == "buffer"
            if delayed and (parent.number != vfsm.source.number or parent.destination.kind != "buffer"):
                wrong.append(f"a VFSM at node {vfsm.node} reads a buffer of another than its parent")
            for word, (slot, came) in enumerate(zip(vfsm.slots, parent.slots, strict=True)):
                wait = (slot - came) % period
                after = parent.slots[(word + 1) % len(parent.slots)]
                room = (after - came) % period or period
                if delayed and not 2 <= wait < room:
                    wrong.append(f"word {word} waits {wait} slots at node {vfsm.node}, the next comes after {room}")
                if not delayed and wait != 1 % period:
                    wrong.append(f"word {word} reaches node {vfsm.node} after {wait} slots")


def _may_inject(phase: RoutedPhase, chain: RoutedChain, vfsm: RoutedVfsm) -> bool:
    anywhere = phase.streams[chain.stream].injects_anywhere
    return vfsm.source.kind == "inject" or (
        anywhere and vfsm.type is not MoveType.FORK and vfsm.destination.kind != "deliver"
    )


def _interface(phase: RoutedPhase, table: dict[Key, tuple[RoutedChain, RoutedVfsm]], wrong: list[str]) -> None:
    """NUM-06: no injection right after a delivery, unless they exclude each other."""
    for (node, pipeline, slot), (chain, vfsm) in table.items():
        after = table.get((node, pipeline, (slot + 1) % phase.period))
        if vfsm.destination.kind != "deliver" or after is None or not _may_inject(phase, *after):
            continue
        first = phase.streams[chain.stream].deliver_condition
        reader = phase.streams[after[0].stream]
        second = reader.inject_condition if reader.injects_anywhere else None
        if first is None or second is None or first.choice != second.choice or first.value == second.value:
            wrong.append(f"node {node} injects in slot {slot + 1} of pipeline {pipeline}, right after a delivery")


def _reprogramming(
    phase: RoutedPhase,
    table: dict[Key, tuple[RoutedChain, RoutedVfsm]],
    wrong: list[str],
    phase_change: bool,
) -> None:
    """A free slot, not right after a delivery, where the reprogramming VFSM is needed."""
    needed = set()
    for node, pipeline, _ in table:
        if phase_change:
            needed.add((node, 0))
        if any(
            phase.streams[c.stream].rewritten
            for c in phase.chains
            if any((v.node, v.pipeline) == (node, pipeline) for v in c.vfsms)
        ):
            needed.add((node, pipeline))
    for node, pipeline in sorted(needed):
        for slot in range(phase.period):
            before = table.get((node, pipeline, (slot - 1) % phase.period))
            if (node, pipeline, slot) in table:
                continue
            if before is None or before[1].destination.kind != "deliver":
                break
        else:
            wrong.append(f"no slot for reprogramming in pipeline {pipeline} of node {node}")


def _registers(phase: RoutedPhase, wrong: list[str]) -> None:
    """Interface registers: one for each chain at each place where the processor may write or read it."""
    used: Counter[int] = Counter()
    for chain in phase.chains:
        for vfsm in chain.vfsms:
            used[vfsm.node] += vfsm.destination.kind == "deliver"
        injecting = {vfsm.node for vfsm in chain.vfsms if _may_inject(phase, chain, vfsm)}
        used.update(injecting)
    for node, count in sorted(used.items()):
        if count > phase.shape.registers - phase.shape.pipelines:
            wrong.append(f"node {node} needs {count} interface registers")


def _links(phase: RoutedPhase, wrong: list[str], forbidden: Collection[tuple[int, int, int]]) -> None:
    """Forbidden writes, and pairs of writes that would meet on one aliased wire."""
    writes: set[tuple[int, int, int]] = set()
    for chain in phase.chains:
        for vfsm in chain.vfsms:
            if vfsm.destination.kind == "link":
                writes.update((vfsm.node, vfsm.destination.number, slot) for slot in vfsm.slots)
    for node, port, slot in sorted(writes):
        if (node, port, slot) in set(forbidden):
            wrong.append(f"node {node} writes port {port} in slot {slot}, which is forbidden")
        other = phase.topology.at_port[node][port]
        if phase.shape.aliased_handshake and (*other, slot) in writes:
            wrong.append(f"both ends of the wire at port {port} of node {node} write in slot {slot}")


def _run(phase: RoutedPhase, table: dict[Key, tuple[RoutedChain, RoutedVfsm]], wrong: list[str]) -> None:
    """Let words run for some periods, with processors that never keep the router waiting."""
    period = phase.period
    longest = max((len(chain.vfsms) for chain in phase.chains), default=0)
    warm = longest * period if longest * period < 200 else (longest * (period - 1) // period + 2) * period
    Word = tuple[int, int, int]
    writing: dict[tuple[int, int], tuple[RoutedChain, RoutedVfsm, Word]] = {}
    buffers: dict[Key, Word] = {}
    sent: Counter[int] = Counter()
    arrived: dict[tuple[int, int], list[tuple[int, Word]]] = defaultdict(list)
    numbers = {id(chain): index for index, chain in enumerate(phase.chains)}
    for cycle in range(warm + 3 * period):
        wires: dict[tuple[int, int], tuple[RoutedChain, Word]] = {}
        for (node, _), (chain, vfsm, word) in writing.items():
            if vfsm.destination.kind == "link":
                port = vfsm.destination.number
                if (node, port) in wires:
                    wrong.append(f"two VFSMs drive port {port} of node {node} in cycle {cycle}")
                    return
                wires[node, port] = chain, word
        taken: Counter[tuple[int, int]] = Counter()
        reading = {}
        emptied = []
        for node in range(phase.topology.nodes):
            for pipeline in range(phase.shape.pipelines):
                if (node, pipeline, cycle % period) not in table:
                    continue
                chain, vfsm = table[node, pipeline, cycle % period]
                word: Word | None = None
                if vfsm.source.kind == "inject":
                    number = numbers[id(chain)]
                    word = (chain.stream, chain.chain, sent[number])
                    sent[number] += 1
                elif vfsm.source.kind == "buffer":
                    word = buffers.get((node, pipeline, vfsm.source.number))
                    emptied.append((node, pipeline, vfsm.source.number))
                elif vfsm.type is MoveType.FORK:
                    first = writing.get((node, pipeline))
                    if first is not None and first[1].destination == vfsm.source:
                        word = first[2]
                else:
                    end = phase.topology.at_port[node][vfsm.source.number]
                    if end in wires:
                        word = wires[end][1]
                        taken[end] += 1
                        if wires[end][0] is not chain:
                            wrong.append(f"node {node} takes a word of another chain in cycle {cycle}")
                if word is not None:
                    reading[node, pipeline] = chain, vfsm, word
                elif cycle >= warm:
                    wrong.append(f"node {node} pipeline {pipeline} finds nothing to read in cycle {cycle}")
        for wire in wires:
            if taken[wire] != 1:
                wrong.append(f"the word on port {wire[1]} of node {wire[0]} is read {taken[wire]} times")
        for (node, pipeline), (chain, vfsm, word) in writing.items():
            if vfsm.destination.kind == "deliver":
                arrived[numbers[id(chain)], node].append((cycle, word))
            elif vfsm.destination.kind == "buffer":
                key = (node, pipeline, vfsm.destination.number)
                if key in buffers:
                    wrong.append(f"buffer {key} is filled twice")
                buffers[key] = word
                if key in emptied:
                    wrong.append(f"buffer {key} is read while it is filled")
                    emptied.remove(key)
        for key in emptied:
            buffers.pop(key, None)
        writing = reading
        if wrong:
            return
    for index, chain in enumerate(phase.chains):
        for node in phase.streams[chain.stream].destinations:
            words = arrived[index, node]
            if [word for _, word in words] != [(chain.stream, chain.chain, k) for k in range(len(words))]:
                wrong.append(f"chain {index} reaches node {node} out of order")
            for turn in range(3):
                begin = warm + turn * period
                count = sum(begin <= cycle < begin + period for cycle, _ in words)
                if count != chain.words:
                    wrong.append(f"chain {index} reaches node {node} {count} times in a period")
