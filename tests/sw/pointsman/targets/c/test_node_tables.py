"""Tables of a node say what its image says; numbers are taken apart again here."""

from __future__ import annotations

import re

from numesh.codes import Codes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.c.entries import entries_of
from pointsman.targets.c.node_tables import node_tables
from pointsman.targets.numesh import make_images

TEXT = "(loop 'l 3 (broadcast 'b (runtime) :m 5) (cshift 'c 1 :m 5))"


def made(period: int | None = None):
    images = make_images(make_plan(compile_text(TEXT, topology=mesh(2, 2)), NodeShape(), name="p", period=period))
    return images, [node_tables(images, entries_of(images), node, f"p_node_{node}") for node in range(4)]


def test_every_annotation_and_entry_is_there_as_a_command():
    images, tables = made()
    codes = Codes(images.shape)
    for image, table in zip(images.nodes, tables, strict=True):
        words = {int(word, 16) for word in re.findall(r"0x([0-9a-f]{8})u", table.text)}
        for part in image.phases:
            for rewrite in part.annotations:
                assert set(codes.write_annotation(rewrite.vfsm, rewrite.annotation)) <= words
        assert set(codes.set_pointer(0, 1)) <= words


def test_sizes_are_those_of_the_largest_node():
    images, tables = made()
    sizes = tables[0].sizes
    for table in tables[1:]:
        sizes = sizes.joined(table.sizes)
    assert sizes.places == max(sum(len(part.annotations) for part in image.phases) for image in images.nodes)
    assert sizes.operands == 1
    assert sizes.operators == max(len(image.operators) for image in images.nodes) - sum(
        phase.barrier is not None for phase in images.phases
    )
