"""Images → C files: the driver, sizes, functions, and a file of tables for each node.

Takes images; gives files by name, which need nothing but a C99 compiler (freestanding: no library, no allocation). Leaves
alone: messages that processors pass on, and schedules that are made at run time; programs with these are refused.
"""

from __future__ import annotations

from functools import reduce
from importlib.resources import files

from numesh.codes import Codes, CommandKind
from pointsman.artifacts.images.images import Images
from pointsman.protocol.costs import ALIGN, ANNOTATION_DRAIN, DETOUR, POINTER_DRAIN

from .entries import NotInCError, entries_of
from .functions import functions_header
from .node_tables import Sizes, node_tables
from .text import identifier

DRIVER = ("pm.h", "pm.c", "pm_port.h")


def c_files(images: Images) -> dict[str, str]:
    """Text of each file: ``pm.h``, ``pm.c``, ``pm_port.h``, ``pm_sizes.h``, ``NAME.h``, ``NAME_nodes.c``, and for each node i
    ``NAME_node_i.c``.

    Raises
    ------
    NotInCError
        If the program needs what the driver does not do, or words have not 32 bits.
    """
    if images.shape.width != 32:
        raise NotInCError(
            f"words must have 32 bits for a driver in C, not {images.shape.width}",
            hint="leave out --width, and give numbers of 64 bits a :type of their own",
        )
    entries = entries_of(images)
    name = identifier(images.name)
    tables = [node_tables(images, entries, node, f"{name}_node_{node}") for node in range(len(images.nodes))]
    sizes = reduce(Sizes.joined, (one.sizes for one in tables))
    found = {part: (files(__package__) / "driver" / part).read_text(encoding="utf-8") for part in DRIVER}
    found["pm_sizes.h"] = _sizes_header(images, sizes, len(entries))
    found[f"{name}.h"] = functions_header(images, entries, name)
    for node, one in enumerate(tables):
        head = f'/* Tables of node {node}; pm.h says what each field means. */\n#include "{name}.h"\n\n'
        found[f"{name}_node_{node}.c"] = head + one.text
    all_nodes = ", ".join(f"&{name}_node_{node}" for node in range(len(tables)))
    found[f"{name}_nodes.c"] = (
        f'/* For a program that has the tables of all nodes. */\n#include "{name}.h"\n\n'
        f"const struct pm_node *const {name}_nodes[{len(tables)}] = {{{all_nodes}}};\n"
    )
    return found


def _sizes_header(images: Images, sizes: Sizes, entries: int) -> str:
    codes = Codes(images.shape)
    blocks = 1 + max((max(phase.block, phase.second) for phase in images.phases), default=0)
    values = {
        "PM_PIPELINES": (images.shape.pipelines, "pipelines of a node"),
        "PM_VFSMS": (images.shape.vfsms, "VFSMs of a pipeline"),
        "PM_DEPTH": (images.shape.schedule_depth, "entries of the schedule memory"),
        "PM_REGISTERS": (images.shape.registers, "interface registers"),
        "PM_PERIOD": (images.period, "slots of a schedule"),
        "PM_BLOCKS": (blocks, "blocks of the schedule memory that are used"),
        "PM_PHASES": (max(1, len(images.phases)), "phases"),
        "PM_ENTRIES": (max(1, entries), "operators of the program"),
        "PM_OPERATORS": (max(1, sizes.operators), "operators of a node, one for each schedule that it has"),
        "PM_OPERANDS": (sizes.operands, "run-time values of an operator"),
        "PM_PLACES": (max(1, sizes.places), "VFSMs of all phases of a node"),
        "PM_LANES": (sizes.lanes, "lanes that move together"),
        "PM_TEMPORARIES": (sizes.temporaries, "intermediate messages of a call"),
        "PM_TEMPORARY_WORDS": (
            max(2, sizes.temporary_words),
            "words of these, and of messages that the caller does not have",
        ),
        "PM_LOCAL_WORDS": (f"(1 + PM_LOCAL * {sizes.local})", "words of messages of a node to itself"),
        "PM_COMMAND_WORDS": (codes.command_words, "words of a command"),
        "PM_KIND_BITS": (codes.command_layouts[CommandKind.ADD_POINTER]["kind"], "bits of a command's kind"),
        "PM_ADD_POINTER": (f"{int(CommandKind.ADD_POINTER)}u", "kind of the command that changes the phase"),
        "PM_POINTER_DRAIN": (POINTER_DRAIN, "cycles from that command until the new phase runs"),
        "PM_ANNOTATION_DRAIN": (ANNOTATION_DRAIN, "cycles from an annotation's command until it holds"),
        "PM_DETOUR": (DETOUR, "cycles, about, of a way through the loader phase"),
        "PM_ALIGN": (-ALIGN, "cycles before a multiple of the period in which the loader phase is started"),
    }
    lines = [f"#define {name} {value} /* {about} */" for name, (value, about) in values.items()]
    head = ["/* Sizes of a program and of its nodes. */", "#ifndef PM_SIZES_H", "#define PM_SIZES_H", ""]
    return "\n".join([*head, *lines, "", "#endif", ""])
