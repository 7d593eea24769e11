"""Rule "knowledge": run-time values of which a node knows only whether they name the node itself (Metcalf 1997, A.4).

Takes images; notes findings. Such an operator (`OperatorImage.partial`) must work with what each node knows: a node does the
same for all values that do not name it. And as instances may have different values, routers must do the same for all values.

An operator whose load functions meet (`OperatorImage.synchronised`) may do more, as words of the barrier carry the value to
all nodes of an instance. For that every node must have its part in the barrier, the same for all values: it writes a word
once, after those that it reads from other nodes but the last, which is the answer. Where these words go, and that all come
before any answer, is proved as of every barrier.

Leaves to the other passes what becomes of the words, value by value, as for any operator.
"""

from __future__ import annotations

from pointsman.artifacts.images.images import SYNC, Images, by_step
from pointsman.verify.report import Notebook


def check_knowledge(images: Images, notebook: Notebook) -> None:
    """Note nodes that would have to know more of a value than whether it names them."""
    for index, operator in enumerate(images.operators):
        if not operator.partial:
            continue
        notebook.counts["operators whose value a single node knows"] += 1
        phase = images.phases[operator.phase].name
        one_node = len(operator.runtime) == 1 and all(len(numbers) == 1 for numbers in operator.values)
        if not one_node or operator.stages != 1 or operator.online is not None or operator.remote:
            notebook.note("knowledge", "its value is not a single node", "one node, one stage", operator, phase=phase)
            continue
        if operator.synchronised:
            _check_told(images, index, notebook)
            continue
        for node, here in images.members[index].items():
            pairs = zip(operator.values, here.role_of, strict=False)
            others = {role for (value,), role in pairs if value != here.position}
            if len(others) > 1:
                notebook.note(
                    "knowledge",
                    "it has several roles for values that name other nodes",
                    "the same role for all of these values",
                    operator,
                    node=node,
                    phase=phase,
                )
            if any(role.rewrites for role in here.roles):
                notebook.note(
                    "knowledge",
                    "its router depends on the value",
                    "the same annotations for all values",
                    operator,
                    node=node,
                    phase=phase,
                )


def _check_told(images: Images, index: int, notebook: Notebook) -> None:
    """Note nodes that do not take part in telling each other the value."""
    operator = images.operators[index]
    for node, here in images.members[index].items():
        parts = {tuple(lane for lane in role.lanes if lane.turn == SYNC) for role in here.roles}
        lanes = next(iter(parts), ())
        single = all(lane.words == 1 and lane.after is None for lane in lanes)
        steps = [[lane.write for lane in here] for here in by_step(lanes)]
        in_turn = steps[-2:] == [[True], [False]] and not any(any(here) for here in steps[:-2])
        told = len(parts) == 1 and single and in_turn
        if here.nodes > 1 and not told:
            notebook.note(
                "knowledge",
                "it has no part in the barrier in which the nodes tell each other the value",
                "words are read, then one is written, then the answer read, for all values alike",
                operator,
                node=node,
                phase=images.phases[operator.phase].name,
            )
