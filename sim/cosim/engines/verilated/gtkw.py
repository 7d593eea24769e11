"""A save file of GTKWave beside a waveform: the processor port and the links of every node, in groups that open and close.

Takes the description of the hardware that the waveform is of. Names are as GTKWave reads them from the FST: a vector with its
range, a single bit with its index.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cosim.hardware import SEAT, Hardware

HEX, CLOSED, END_CLOSED, COMMENT = "@22", "@c00200", "@1401200", "@200"
"""Flags of a trace: hexadecimal; a group that is closed, and its end; a line of text."""
OPEN, END_OPEN = "@800200", "@1000200"
MOST_NODES = 256
"""Nodes that have a group. GTKWave gets slow with more, and finds the others' signals in its tree."""


def gtkw_path(wave: Path) -> Path:
    """Where the save file of a waveform is."""
    return wave.with_suffix(".gtkw")


def gtkw_text(hardware: Hardware, wave: Path) -> str:
    """The save file: a group for each node, that of the first open; in it the accesses of its processor and a group for its
    links. A cycle is two steps of time."""
    lines = [
        f"[*] {hardware.name}: cycle c is at time 2 c",
        f'[dumpfile] "{wave.resolve()}"',
        "[timestart] 0",
        "[size] 1400 900",
        "[sst_expanded] 1",
        COMMENT,
        f"-{hardware.name}",
    ]
    for node in range(min(hardware.blocks, MOST_NODES)):
        begin, end = (OPEN, END_OPEN) if node == 0 else (CLOSED, END_CLOSED)
        lines += [begin, f"-node {node}", *_signals(node, _port(hardware))]
        if hardware.wires:
            links = [(wire.name, wire.width) for wire in hardware.wires]
            lines += [CLOSED, f"-links of node {node}", *_signals(node, links), END_CLOSED, f"-links of node {node}"]
        lines += [end, f"-node {node}"]
    return "\n".join(lines) + "\n"


def _port(hardware: Hardware) -> list[tuple[str, int]]:
    flags = dict.fromkeys((hardware.write_full, hardware.read_full))
    address = max(1, (hardware.registers - 1).bit_length())
    return [
        ("p_address", address),
        ("p_write", 1),
        ("p_write_data", hardware.width),
        ("p_read", 1),
        ("p_read_data", hardware.width),
        *((name, hardware.registers) for name in flags),
    ]


def _signals(node: int, signals: list[tuple[str, int]]) -> Iterator[str]:
    yield HEX
    for name, width in signals:
        yield f"node_{node}.{SEAT}.{name}" + (f"[{width - 1}:0]" if width > 1 else "[0]")
