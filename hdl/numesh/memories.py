"""What the memories of a node hold: the schedule and the annotations of each pipeline, as packed words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .codes import LOOKAHEAD, NOP_VFSM, Annotation, Codes, ScheduleEntry
from .shape import NodeShape, ShapeError


@dataclass(frozen=True)
class NodeMemories:
    """Packed words of one node's memories.

    Parameters
    ----------
    schedule : tuple of int
        ``schedule_depth`` entries, packed by ``Codes.entry_layout``.
    annotations : tuple of tuple of int
        For each pipeline ``vfsms`` annotations, packed by ``Codes.annotation_layout``.
    """

    schedule: tuple[int, ...]
    annotations: tuple[tuple[int, ...], ...]

    @classmethod
    def at_reset(cls, shape: NodeShape) -> NodeMemories:
        """What the memories hold when the hardware is configured: the loader phase."""
        codes = Codes(shape)
        return cls(
            schedule=tuple(codes.encode_entry(entry) for entry in codes.reset_schedule()),
            annotations=tuple(
                tuple(codes.encode_annotation(annotation) for annotation in codes.reset_annotations(p))
                for p in range(shape.pipelines)
            ),
        )

    @classmethod
    def looping(
        cls,
        shape: NodeShape,
        slots: Sequence[Sequence[int]],
        annotations: Sequence[Mapping[int, Annotation]] = (),
        *,
        start: int = 0,
    ) -> NodeMemories:
        """A schedule that repeats ``slots``, for a node that needs no loading.

        Parameters
        ----------
        shape : NodeShape
            Sizes of the node.
        slots : sequence of (VFSM of each pipeline)
            What runs in each slot.
        annotations : sequence of mapping from VFSM to Annotation
            For each pipeline, where it differs from the contents at reset.
        start : int
            Address of the first slot; one slot takes two entries. The entries that hold no slot run VFSM 0 and lead there.
        """
        if len(slots) == 1:
            slots = [*slots, *slots]  # out of reset the first two addresses are used in turn
        if start < 0 or start + len(slots) > shape.schedule_depth:
            raise ShapeError(
                f"slots from {start} to {start + len(slots) - 1} must lie in the schedule of "
                f"{shape.schedule_depth} entries"
            )
        codes = Codes(shape)
        idle = (NOP_VFSM,) * shape.pipelines
        # Addresses 0 and 1 come first out of reset; both lead to slots, the later one to the later slot.
        schedule = [ScheduleEntry(idle, start + (a + (start == 1)) % LOOKAHEAD) for a in range(shape.schedule_depth)]
        for i, vfsms in enumerate(slots):
            schedule[start + i] = ScheduleEntry(tuple(vfsms), start + (i + LOOKAHEAD) % len(slots))
        memories = []
        for p in range(shape.pipelines):
            memory = list(codes.reset_annotations(p))
            for vfsm, annotation in annotations[p].items() if p < len(annotations) else ():
                memory[vfsm] = annotation
            memories.append(tuple(codes.encode_annotation(annotation) for annotation in memory))
        return cls(tuple(codes.encode_entry(entry) for entry in schedule), tuple(memories))

    def check(self, shape: NodeShape) -> None:
        """Raise ``ShapeError`` if these words do not fit the memories of ``shape``."""
        codes = Codes(shape)
        if len(self.annotations) != shape.pipelines:
            raise ShapeError(f"annotations must be given for {shape.pipelines} pipelines, not {len(self.annotations)}")
        _check_words("schedule", self.schedule, shape.schedule_depth, sum(codes.entry_layout.values()))
        for p, words in enumerate(self.annotations):
            bits = sum(codes.annotation_layout.values())
            _check_words(f"annotations of pipeline {p}", words, shape.vfsms, bits)


def _check_words(name: str, words: tuple[int, ...], count: int, bits: int) -> None:
    if len(words) != count:
        raise ShapeError(f"{name} must have {count} words, not {len(words)}")
    for address, word in enumerate(words):
        if not 0 <= word < 1 << bits:
            raise ShapeError(f"{name} at {address} must be 0 to {(1 << bits) - 1:#x}, not {word:#x}")
