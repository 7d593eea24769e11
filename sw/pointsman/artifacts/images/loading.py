"""What a loader in hardware writes to each router, so that it holds what ``readmemh`` would preload, word by word in order.

Takes ``Images``; gives rows for `host.loader.ImageLoader`. First the loader phase as a block of one period, which is
started in step with all other nodes; then annotations and schedule entries that differ from those after reset.
"""

from __future__ import annotations

from host.loader import LoaderRow
from numesh.codes import FIRST_FREE_VFSM, Codes
from numesh.memories import NodeMemories

from .images import Images
from .readmemh import memories_of


def loading_rows(images: Images) -> list[list[LoaderRow]]:
    """Rows of each node.

    Raises
    ------
    ImageError
        If a phase lies outside the memories or a code does not fit.
    """
    codes, period = Codes(images.shape), images.period
    reset = NodeMemories.at_reset(images.shape)
    found = []
    for memories in memories_of(images):
        rows = []
        entries = [codes.write_entry(at, codes.decode_entry(word)) for at, word in enumerate(memories.schedule)]
        for at in reversed(range(period)):
            rows += [LoaderRow(0, word) for word in entries[at]]
        *most, last = codes.set_pointer(0, 1)
        rows += [LoaderRow(0, word) for word in most]
        rows.append(LoaderRow(0, last, aligned=True))
        for pipeline, words in enumerate(memories.annotations):
            for vfsm in range(FIRST_FREE_VFSM, images.shape.vfsms):
                if words[vfsm] != reset.annotations[pipeline][vfsm]:
                    command = codes.write_annotation(vfsm, codes.decode_annotation(words[vfsm]))
                    rows += [LoaderRow(pipeline, word) for word in command]
        for at in range(period, images.shape.schedule_depth):
            if memories.schedule[at] != reset.schedule[at]:
                rows += [LoaderRow(0, word) for word in entries[at]]
        found.append(rows)
    return found
