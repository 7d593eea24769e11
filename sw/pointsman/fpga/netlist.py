"""What synthesis made of a block: its cells, and which of our names they come from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .devices import Device
from .tools import ToolError

_COUNTED = {
    "LUT4": ("lut4", 1),
    "CCU2C": ("lut4", 2),
    "TRELLIS_FF": ("ff", 1),
    "TRELLIS_DPR16X4": ("dpr16x4", 1),
    "DP16KD": ("ebr", 1),
    "PDPW16KD": ("ebr", 1),
    **{f"LUT{inputs}": ("lut4", 1) for inputs in (1, 2, 3)},
    "ALU": ("lut4", 1),
    **{f"DFF{kind}": ("ff", 1) for kind in ("", "E", "R", "RE", "S", "SE", "C", "CE", "P", "PE")},
    "RAM16SDP4": ("dpr16x4", 1),
    **dict.fromkeys(("SP", "SPX9", "SDPB", "SDPX9B", "DPB", "DPX9B", "pROM", "pROMX9"), ("ebr", 1)),
}
"""For each kind of cell of an ECP5 or a Gowin FPGA what it counts as, and how many."""
_FREE = {"$scopeinfo", "GND", "VCC"}
_REGISTER = re.compile(r"TRELLIS_FF|DFFN?[RSCP]?E?")


@dataclass(frozen=True)
class Cells:
    """Cells of a block.

    ``lut4`` counts a carry cell as the two look-up tables whose place it takes, and no memory.
    """

    lut4: int
    ff: int
    dpr16x4: int
    ebr: int

    @classmethod
    def of_module(cls, module: Mapping[str, Any]) -> Cells:
        """Cells of a module of a netlist, as ``write_json`` of yosys gives it.

        Raises
        ------
        ToolError
            If there are cells of a kind that is not counted, or other modules.
        """
        counts = Counter(cell["type"] for cell in module["cells"].values())
        unknown = sorted(counts.keys() - _COUNTED.keys() - _FREE)
        if unknown:
            raise ToolError(f"the netlist has cells that are not counted: {', '.join(unknown)}")
        sums = Counter[str]()
        for kind, number in counts.items():
            if kind in _COUNTED:
                name, each = _COUNTED[kind]
                sums[name] += number * each
        return cls(sums["lut4"], sums["ff"], sums["dpr16x4"], sums["ebr"])

    def check_fit(self, device: Device) -> None:
        """Raise ``ToolError`` if a device cannot hold these cells, however well they are placed."""
        for what, need, have in (
            ("look-up tables", self.lut4 + 4 * self.dpr16x4, device.luts),
            ("flip-flops", self.ff, device.ffs),
            ("distributed memories", self.dpr16x4, device.rams),
            ("block memories", self.ebr, device.ebr),
        ):
            if need > have:
                raise ToolError(
                    f"the {device.name} is too small: the block needs {need} {what}, and it has {have}",
                    hint="choose a larger device or smaller sizes",
                )


_CELL_KINDS = (
    "LUT[1-4]|TRELLIS_FF|CCU2C|TRELLIS_DPR16X4|DP16KD|PDPW16KD|PFUMX|L6MUX21|MULT18X18D"
    "|ALU|DFFN?[RSCP]?E?|RAM16SDP4|SP|SPX9|SDPB|SDPX9B|DPB|DPX9B"
)
_MADE_UP = re.compile(rf"_(?:{_CELL_KINDS})_|_(?:D[IO]A?B?|RAD|WAD|Q|Z|S[01]|COUT|SUM)\d*(?=$|\[|_)|\.\d+\.\d+(?=$|_)")
"""Where a name that yosys made up after one of ours goes on."""


@dataclass(frozen=True)
class Name:
    """A signal in our words; ``source`` is ``file:line`` or empty. ``exact`` is false for logic that lost its own name in
    synthesis and is called after the signal next to it."""

    signal: str
    source: str
    exact: bool


class Names:
    """Names of cells and nets of a placed design in terms of the source.

    Parameters
    ----------
    netlist : mapping
        What ``write_json`` of yosys wrote.
    instance, module : str
        The block in the design; the rest is its surroundings.
    """

    def __init__(self, netlist: Mapping[str, Any], instance: str, module: str) -> None:
        self._prefix = f"{instance}."
        part = netlist["modules"][module]
        self._ports = {f"{way}_{port}": port for port in part["ports"] for way in "io"}
        self._registers: dict[str, Name] = {}
        self._nets: dict[str, dict[int, Name]] = {}
        driven: dict[int, Name] = {}
        for cell, body in part["cells"].items():
            name = _register(body["attributes"].get("src", "")) if _REGISTER.fullmatch(body["type"]) else None
            if name is not None:
                self._registers[cell] = name
                driven |= dict.fromkeys(body["connections"].get("Q", ()), name)
        for net, body in part["netnames"].items():
            source = _ours(body["attributes"].get("src", ""))
            own = Name(_plain(net), source, True) if source and not _MADE_UP.search(net) else None
            found = {index: own or driven.get(bit) for index, bit in enumerate(body["bits"])}
            self._nets[net] = {index: name for index, name in found.items() if name is not None}

    def cell(self, cell: str) -> Name:
        """The register, memory or logic that a cell is part of."""
        if not cell.startswith(self._prefix):
            return self._outside(cell)
        cell = re.sub(r"\$\w+$", "", cell.removeprefix(self._prefix))  # which part of it
        if cell in self._registers:
            return self._registers[cell]
        return self._near(cell, exact=re.fullmatch(r".*\.\d+\.\d+", cell) is not None)

    def net(self, net: str) -> Name:
        """The signal that a net carries a bit of."""
        if not net.startswith(self._prefix):
            return self._outside(net)
        base, index = _bit(net.removeprefix(self._prefix))
        return self._nets.get(base, {}).get(index) or self._near(base, exact=False)

    def _outside(self, name: str) -> Name:
        """Between ports of the block, or in the shift registers around it."""
        base = _bit(_MADE_UP.split(name, maxsplit=1)[0])[0]
        return Name(f"port {self._ports[base]}" if base in self._ports else f"surroundings {_plain(base)}", "", True)

    def _near(self, name: str, *, exact: bool) -> Name:
        base, index = _bit(_MADE_UP.split(name, maxsplit=1)[0])
        known = self._nets.get(base, {})
        near = known.get(index) or next(iter(known.values()), None)
        return Name(_plain(base), "", exact) if near is None else Name(near.signal, near.source, exact)


def _bit(name: str) -> tuple[str, int]:
    match = re.fullmatch(r"(.*)\[(\d+)\]", name)
    return (match[1], int(match[2])) if match else (name, 0)


def _register(source: str) -> Name | None:
    """The name that stands before a place, see `pointsman.fpga.chain.named`."""
    for place in source.split("|"):
        signal, at, line = place.partition("@")
        if at:
            return Name(_plain(signal), line, True)
    return None


def _ours(source: str) -> str:
    """The first place in Python among the places of a net."""
    return next((place for place in source.split("|") if ".py:" in place), "")


def _plain(name: str) -> str:
    """Without the numbers that tell names apart."""
    return re.sub(r"\$\d+", "", name).lstrip("\\")
