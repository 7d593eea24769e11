"""Rules between neighbours and between phases: handshakes on one wire, wires used again, phase changes, passages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, pairwise, product

from numesh.codes import REPROGRAM_VFSM, Codes, MoveType
from pointsman.images.image import Images, PhaseImage

from .check_continuing import Standing
from .check_node import Key, NodeView, Vfsm
from .check_report import Finding, Notebook
from .check_skew import Skew

Place = tuple[int, int, int]
"""Node, pipeline and number of a VFSM."""
MOST_KEYS = 4096
"""Combinations of roles looked at for one node or link."""


def role_choices(
    images: Images, views: Sequence[NodeView], notebook: Notebook, phase: str
) -> Iterator[tuple[tuple[Key, ...], tuple[str, ...]]]:
    """Combinations of roles that these nodes can have together: for every value of each operator, and for every two
    operators every pair of values; the others at their first value.

    Yields
    ------
    keys, values
        A key for each node, and the values that lead to it (for messages, one example an operator).
    """
    indices = sorted({index for view in views for index, _ in view.operators})
    options: dict[int, dict[tuple[int, ...], int]] = {}
    for index in indices:
        if images.operators[index].states == 1:
            continue
        columns = [view.here[index].role_of for view in views if index in view.here]
        roles = zip(*columns, strict=True)
        options[index] = {}
        for value, role in enumerate(roles):
            options[index].setdefault(role, value)
    varying = [index for index in indices if len(options.get(index, ())) > 1]
    choices: dict[tuple[tuple[int, int], ...], None] = {(): None}
    for index in varying:
        choices.update({((index, value),): None for value in options[index].values() if value})
    for first, second in combinations(varying, 2):
        pairs = product(options[first].values(), options[second].values())
        for a, b in pairs:
            if a and b:
                choices[(first, a), (second, b)] = None
            if len(choices) > MOST_KEYS:
                left_out = f"in phase {phase} combinations of roles of a node or link beyond {MOST_KEYS}"
                if left_out not in notebook.unchecked:
                    notebook.unchecked.append(left_out)
                break
        else:
            continue
        break
    seen = set()
    for choice in choices:
        keys = tuple(view.key(dict(choice)) for view in views)
        if keys not in seen:
            seen.add(keys)
            yield keys, describe_choice(images, dict(choice), [i for i in indices if i in varying])


def describe_choice(images: Images, choice: Mapping[int, int], varying: Sequence[int]) -> tuple[str, ...]:
    """The values of the operators ``varying`` in words, as one text; nothing if there are none."""
    if not varying:
        return ()
    parts = []
    for index in varying:
        operator = images.operators[index]
        state = choice.get(index, 0)
        value = operator.values[state // operator.stages]
        named = ", ".join(f"{name} {v}" for name, v in zip(operator.runtime, value, strict=False))
        if operator.stages > 1:
            named = f"{named}{', ' if named else ''}stage {state % operator.stages}"
        if state or len(varying) == 1:
            parts.append(f"{operator.label}: {named or value}")
    return (" and ".join(parts) or "first values",)


def check_aliased(images: Images, codes: Codes, views: Mapping[int, NodeView], phase: int, notebook: Notebook) -> None:
    """Both ways of a link in one slot (Metcalf 1997, §7.1.1, "Flow-control Wire Aliasing")."""
    name = images.phases[phase].name
    for link in images.topology.links:
        near, far = views.get(link.node), views.get(link.other)
        if near is None or far is None:
            continue
        for (a, b), values in role_choices(images, (near, far), notebook, name):
            one, other = near.state(a), far.state(b)
            there = {slot for port, slot in one.writes if port == link.port}
            there |= {(slot - 1) % images.period for port, slot in other.reads if port == link.other_port}
            back = {slot for port, slot in other.writes if port == link.other_port}
            back |= {(slot - 1) % images.period for port, slot in one.reads if port == link.port}
            for slot in sorted(there & back):
                notebook.add(
                    Finding(
                        "aliased-handshake",
                        f"{codes.name(link.port)} carries words to node {link.other} and back in one slot",
                        "one way in a slot",
                        phase=name,
                        node=link.node,
                        slot=slot,
                        values=values,
                    )
                )


def following_phases(images: Images, node: int) -> dict[int, tuple[int, ...]]:
    """For each phase of a node, those that it can enter next: by its own ways if it has any, else successors, passing over
    phases without a part of it."""
    ways = images.nodes[node].ways
    parts = {part.phase for part in images.nodes[node].phases}
    if ways:
        return {p: tuple(sorted({b for a, b in ways if a == p and b in parts})) for p in parts}
    return {phase: passing_over(images, phase, parts) for phase in parts}


def passing_over(images: Images, phase: int, parts: Collection[int]) -> tuple[int, ...]:
    """Phases of ``parts`` that can come next after ``phase``."""
    found: dict[int, None] = {}
    waiting, seen = [phase], set()
    while waiting:
        for successor in images.phases[waiting.pop()].successors:
            if successor in parts:
                found[successor] = None
            elif successor not in seen:
                seen.add(successor)
                waiting.append(successor)
    return tuple(sorted(found))


def later_phases(following: Mapping[int, tuple[int, ...]], phase: int) -> tuple[int, ...]:
    """Phases of a node that may run at any time after ``phase``."""
    found: set[int] = set()
    waiting = list(following[phase])
    while waiting:
        later = waiting.pop()
        if later not in found:
            found.add(later)
            waiting += following[later]
    return tuple(sorted(found))


def check_reprogramming(
    images: Images,
    views: Mapping[int, NodeView],
    phase: int,
    following: Mapping[int, tuple[int, ...]],
    notebook: Notebook,
) -> None:
    """VFSM 1 where phases change and where annotations are rewritten. ``following`` is by node."""
    name = images.phases[phase].name
    for node, view in views.items():
        changes = [images.phases[later].name for later in following[node] if later != phase]
        needed = {0: f"the change to phase {changes[0]}"} if changes else {}
        for index, operator in view.operators:
            for role in operator.roles:
                for rewrite in role.rewrites:
                    needed.setdefault(rewrite.pipeline, f"the load function of {images.operators[index].label}")
        for pipeline, reason in sorted(needed.items()):
            if 0 <= pipeline < len(view.columns) and REPROGRAM_VFSM not in view.columns[pipeline]:
                notebook.add(
                    Finding(
                        "reprogramming",
                        f"VFSM 1 never runs, which {reason} needs",
                        "a slot for VFSM 1",
                        phase=name,
                        node=node,
                        pipeline=pipeline,
                    )
                )


def meets(images: Images, node: int, phase: int) -> bool:
    """Does this node leave the phase together with others, after a barrier or something that does as well?"""
    barrier = images.phases[phase].barrier
    return barrier is not None and node in images.members.get(barrier, ())


class LinkUse:
    """Slots in which a node may use its links in a phase, under any value and before any load function."""

    def __init__(
        self,
        view: NodeView,
        codes: Codes,
        without: Collection[Vfsm] = (),
        slots: Mapping[Vfsm, Collection[int]] | None = None,
    ) -> None:
        self.writes: dict[int, set[int]] = {}
        """By port, slots of VFSMs that write it, but those in ``without``, and some ``slots`` of others."""
        self.reads: dict[int, set[int]] = {}
        """By port, slots before those of VFSMs that read it: slots of their writers."""
        possible = view.possible()
        filled = {
            (pipeline, annotation.destination) for (pipeline, _), choices in possible.items() for annotation in choices
        }
        for vfsm, choices in possible.items():
            if vfsm in without:
                continue
            left_out = slots.get(vfsm, ()) if slots else ()
            there = [slot for slot in view.every_slot(vfsm) if slot not in left_out]
            for annotation in choices:
                off = annotation.source == codes.nop and (vfsm[0], codes.buffer(vfsm[1])) not in filled
                if codes.is_neighbour(annotation.destination) and not off:
                    self.writes.setdefault(annotation.destination, set()).update(there)
                # The second leg of a fork names the link that the first one writes, and reads nothing from it.
                if codes.is_neighbour(annotation.source) and annotation.type != MoveType.FORK:
                    before = {(slot - 1) % view.period for slot in there}
                    self.reads.setdefault(annotation.source, set()).update(before)


def check_wires(
    images: Images,
    codes: Codes,
    views: Sequence[Mapping[int, NodeView]],
    following: Sequence[Mapping[int, tuple[int, ...]]],
    standing: Standing,
    skew: Skew,
    words: Sequence[Mapping[Place, Collection[tuple[int, int]]]],
    notebook: Notebook,
) -> None:
    """Links used again while a neighbour may still be in an earlier phase (Metcalf 1997, §5.3, Table 5.2).

    After a barrier the neighbour changes within the time to settle, which the node must have waited by then: after the change to
    the phase that comes next, or before it enters a later one. After anything else it may stay for any time, also while
    this node goes through several phases, unless one of them joins the two.

    Parameters
    ----------
    views : sequence of mapping
        By phase, the nodes that have a part.
    following : sequence of mapping
        By node, ``following_phases``.
    skew : Skew
        Who may be where while another is behind.
    words : sequence of mapping
        By phase and VFSM, operator and source of each stream that passes it.
    """
    used: dict[tuple[int, int, frozenset[Vfsm], int], LinkUse] = {}

    def use(node: int, phase: int, without: frozenset[Vfsm] = frozenset(), since: int = -1) -> LinkUse:
        """``since``: without what continues from that phase in the same slots (Table 5.2)."""
        key = (node, phase, without, since)
        if key not in used:
            kept = standing.kept(node, since, phase) if since >= 0 else ()
            same = {vfsm: views[since][node].every_slot(vfsm) for vfsm in kept}
            used[key] = LinkUse(views[phase][node], codes, without, same)
        return used[key]

    def may_send(node: int, later: int, port: int, slot: int, other: int, earlier: int) -> bool:
        """May a word be written there while the node at the other end has not left the earlier phase?"""
        view = views[later][node]
        for vfsm, choices in view.possible().items():
            if slot in view.every_slot(vfsm) and any(one.destination == port for one in choices):
                passing = words[later].get((node, *vfsm), ())
                if not passing or any(skew.may_send(source, index, other, earlier) for index, source in passing):
                    return True
        return False

    pairs = set()
    for node, links in enumerate(images.topology.at_port):
        for earlier, next_phases in following[node].items():
            settle = dict(views[earlier][node].part.settle)
            barrier = meets(images, node, earlier)
            # Who waits before every phase that comes next needs no wait before those after it.
            waits = barrier and all(settle.get(later, 0) for later in next_phases if later != earlier)
            for later in next_phases if waits else later_phases(following[node], earlier):
                if later == earlier:
                    continue
                pairs.add((earlier, later))
                now = use(node, later, since=earlier)
                for port, (other, other_port) in links.items():
                    if other not in views[earlier]:
                        continue
                    notebook.counts["link ends between phases"] += 1
                    # What continues wherever the node goes ends with a barrier later: see ``check_continuing``.
                    then, far = (
                        use(n, earlier, standing.lasting(n, earlier, following[n][earlier])) for n in (node, other)
                    )
                    # Slots in which the neighbour, still in the earlier phase, would take a word from here.
                    taken = then.writes.get(port, set()) | far.reads.get(other_port, set())
                    before, name = images.phases[earlier].name, images.phases[later].name
                    again = taken & now.writes.get(port, set())
                    # With handshakes on one wire both ends would accept, at once and not only when there are words.
                    turned = taken & now.reads.get(port, set()) if images.shape.aliased_handshake else set()
                    if again | turned and not barrier and not skew.may_be(node, later, other, earlier):
                        notebook.counts["links written again by dependency"] += len(again | turned)
                        continue
                    late = {
                        slot
                        for slot in (again - turned if not barrier else ())
                        if not may_send(node, later, port, slot, other, earlier)
                    }
                    notebook.counts["links written again in turn"] += len(late)
                    for slot in sorted(again - late):
                        wait = settle.get(later, 0)
                        # Who has to load a phase has left the one before, for the loader phase, which reads no link.
                        if barrier and wait > 0:
                            notebook.counts["links written again after a barrier"] += 1
                            continue
                        why = (
                            f"which closes by {images.phases[earlier].technique}, not by a barrier"
                            if not barrier
                            else "and the node does not wait for its neighbours to change as well"
                        )
                        notebook.add(
                            Finding(
                                "wires",
                                f"{codes.name(port)} is written, as it was in phase {before}, {why}",
                                "another slot, or a barrier and a time to settle",
                                phase=name,
                                node=node,
                                slot=slot,
                            )
                        )
                    # Behind a barrier a node waits for its neighbours after the change to the next phase, but before it goes on
                    # to one that does not come next.
                    if barrier and settle.get(later, 0) > 0 and later not in next_phases:
                        turned = set()
                    for slot in sorted(turned):
                        notebook.add(
                            Finding(
                                "wires",
                                f"{codes.name(port)} is read, but was written in phase {before}, so both accept",
                                "another slot",
                                phase=name,
                                node=node,
                                slot=slot,
                            )
                        )
    notebook.counts["pairs of phases"] += len(pairs)


def check_kept_registers(
    images: Images,
    codes: Codes,
    views: Sequence[Mapping[int, NodeView]],
    following: Sequence[Mapping[int, tuple[int, ...]]],
    standing: Standing,
    skew: Skew,
    notebook: Notebook,
) -> None:
    """A phase that is left by messages alone and entered again keeps its registers to itself.

    A neighbour that is ahead may send words of its next use, if the node reads its link, while this node is still in it; they
    wait in the phase's registers and must not be taken for another phase's.
    """
    for node in range(images.topology.nodes):
        used = {
            phase: {
                code
                for vfsm, choices in views[phase][node].possible().items()
                if vfsm not in standing.at(node, phase)
                for annotation in choices
                for code in (annotation.source, annotation.destination)
                if codes.is_register(code)
            }
            for phase in following[node]
        }
        for phase in following[node]:
            loose = images.phases[phase].technique != "none" and not meets(images, node, phase)
            if not loose or phase not in later_phases(following[node], phase):
                continue
            read = {
                one.source
                for choices in views[phase][node].possible().values()
                for one in choices
                if one.type != MoveType.FORK
            }
            around = {
                end
                for port, (end, _) in images.topology.at_port[node].items()
                if end in views[phase] and codes.neighbour(port) in read
            }
            if not any(skew.may_be(other, phase, node, phase) for other in around):
                notebook.counts["registers used again by dependency"] += len(used[phase])
                continue
            for other in following[node]:
                shared = used[phase] & used[other] if other != phase else set()
                if shared:
                    notebook.add(
                        Finding(
                            "registers",
                            f"{codes.name(min(shared))} is used in phase {images.phases[other].name} as well",
                            "registers of its own for a phase that messages alone close",
                            phase=images.phases[phase].name,
                            node=node,
                        )
                    )


def check_kept_vfsms(
    images: Images,
    codes: Codes,
    views: Sequence[Mapping[int, NodeView]],
    following: Sequence[Mapping[int, tuple[int, ...]]],
    standing: Standing,
    notebook: Notebook,
) -> None:
    """Phases may have VFSMs in common, the run time loads them, but not those in whose buffers words may wait meanwhile: of
    phases that are left by messages alone and entered again. Nor those of a phase whose schedule is made at run time, which
    takes numbers that are free. What continues has rules of its own (``check_continuing``)."""
    for node in range(images.topology.nodes):
        used: dict[int, set[tuple[int, int]]] = {}
        for phase in following[node]:
            used[phase] = set(views[phase][node].slots)
            used[phase] |= {(r.pipeline, r.vfsm) for r in views[phase][node].part.annotations}
            for (pipeline, _), choices in views[phase][node].possible().items():
                codes_of = (code for one in choices for code in (one.source, one.destination))
                used[phase] |= {(pipeline, code - codes.first_buffer) for code in codes_of if codes.is_buffer(code)}
            used[phase] -= standing.at(node, phase).keys()
        made = {images.operators[i].phase for i, _ in images.nodes[node].operators if images.operators[i].instances}
        for phase in following[node]:
            loose = images.phases[phase].technique != "none" and not meets(images, node, phase)
            if phase not in made and not (loose and phase in later_phases(following[node], phase)):
                continue
            why = "whose schedule is made at run time" if phase in made else "that messages alone close"
            for other in following[node]:
                for pipeline, vfsm in sorted(used[phase] & used[other])[:1] if other != phase else ():
                    notebook.add(
                        Finding(
                            "vfsm-numbers",
                            f"phase {images.phases[other].name} uses it as well",
                            f"VFSMs of its own for a phase {why}",
                            phase=images.phases[phase].name,
                            node=node,
                            pipeline=pipeline,
                            vfsm=vfsm,
                        )
                    )


def check_passages(images: Images, following: Sequence[Mapping[int, tuple[int, ...]]], notebook: Notebook) -> None:
    """Every phase of a node is either called by an operator or on the way of a passage (Metcalf 1997, §5.2, §5.5.2)."""
    passages: dict[int, list[tuple[int, int, tuple[int, ...]]]] = {}
    for node, left, entered, way in images.passages:
        passages.setdefault(node, []).append((left, entered, way))
    names = [phase.name for phase in images.phases]
    for node, image in enumerate(images.nodes):
        # The barrier that closes a phase is called by load functions and passages, not by the application; what stands for
        # its online streams is not called at all.
        closing = {index for part in image.phases for index in _inner(images.phases[part.phase])}
        called = {
            view.enters if images.operators[index].continues else images.operators[index].phase
            for index, view in image.operators
            if index not in closing
        }
        silent = {part.phase for part in image.phases} - called

        def note(message: str, right: str, phase: int | None = None, node: int = node) -> None:
            notebook.add(Finding("passages", message, right, phase=None if phase is None else names[phase], node=node))

        steps = set()
        for left, entered, way in passages.get(node, ()):
            notebook.counts["passages"] += 1
            alone = left == entered or entered == -1
            if not way and not (alone and left != -1 and images.phases[left].barrier is not None):
                note("a passage leads through no phase", "a phase on the way, or a barrier that others need")
            for phase in way:
                if phase not in silent:
                    note(
                        "a passage leads through it",
                        "phases in which the node has a part but no operator",
                        phase,
                    )
            for end in (left, entered):
                if end != -1 and end not in called:
                    note("a passage begins or ends in it", "a phase in which the node has an operator", end)
            path = (left, *way, entered)
            for a, b in pairwise(path):
                steps.add((a, b))
                if a == b and not way:
                    continue
                if a != -1 and b != -1 and b not in following[node].get(a, ()):
                    note(f"a passage leads from it to phase {names[b]}", "a phase that can follow it", a)
        for phase in sorted(silent):
            if not any(phase in way for _, _, way in passages.get(node, ())):
                note("the node has a part in it, but no operator and no passage", "a passage through it", phase)
                continue
            for before in sorted(following[node]):
                if before != phase and phase in following[node][before] and (before, phase) not in steps:
                    note(f"no passage leads to it from phase {names[before]}", "a passage for every way", phase)
            for after in following[node][phase]:
                if after != phase and (phase, after) not in steps:
                    note(f"no passage leads from it to phase {names[after]}", "a passage for every way", phase)
            if not following[node][phase] and (phase, -1) not in steps:
                note("no passage leads from it to the end", "a passage for every way", phase)
            if all(phase not in later for later in following[node].values()) and (-1, phase) not in steps:
                note("no passage leads to it from the beginning", "a passage for every way", phase)


def _inner(phase: PhaseImage) -> tuple[int | None, int | None]:
    return phase.barrier, phase.online
