"""Rows of a loader: commands that give every router what would be preloaded, carried out here one by one."""

from __future__ import annotations

from numesh.codes import Codes, CommandKind, unpack
from numesh.memories import NodeMemories
from numesh.shape import NodeShape
from pointsman.artifacts.images.loading import loading_rows
from pointsman.artifacts.images.readmemh import memories_of
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images


def test_rows_give_the_memories_that_would_be_preloaded():
    program = compile_text("(sequential (broadcast 'b 0 :m 40) (cshift 'c 1 :m 20))", topology=mesh(3, 1))
    images = make_images(make_plan(program, NodeShape(), name="p"))
    codes = Codes(images.shape)
    entry = {"kind": 3, "address": codes.pointer_bits, "word": sum(codes.entry_layout.values())}
    annotation = {"kind": 3, "vfsm": codes.vfsm_bits, "word": sum(codes.annotation_layout.values())}
    for rows, expected in zip(loading_rows(images), memories_of(images), strict=True):
        reset = NodeMemories.at_reset(images.shape)
        schedule, annotations = list(reset.schedule), [list(words) for words in reset.annotations]
        starts = [k for k, row in enumerate(rows) if row.aligned]
        assert len(starts) == 1
        assert starts[0] == images.period  # the loader phase first
        for row in rows:
            match row.word & 7:
                case CommandKind.SCHEDULE:
                    assert row.register == 0
                    fields = unpack(entry, row.word)
                    schedule[fields["address"]] = fields["word"]
                case CommandKind.ANNOTATION:
                    fields = unpack(annotation, row.word)
                    annotations[row.register][fields["vfsm"]] = fields["word"]
                case kind:
                    assert kind == CommandKind.SET_POINTER
                    assert row.aligned
        assert NodeMemories(tuple(schedule), tuple(map(tuple, annotations))) == expected
