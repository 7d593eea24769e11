"""Files of a guaranteed network: a Verilog top with AXI4-Streams and all below it, a FuseSoC core, a cocotb bench, a report.

Takes a timetable with its guarantees; gives texts by file name, which depend on the timetable alone.
"""

from __future__ import annotations

import json
import re
from typing import Any

from amaranth.hdl import Shape

from emission import component_verilog
from emission.core_file import core_file
from host.shape import HostShape
from host.timetabled import TimetabledEnd, TimetabledStreams
from numesh.codes import FIRST_READ
from numesh.emit import mesh_verilog
from numesh.full_bits import Kept
from numesh.interface import processor_members
from numesh.memories import NodeMemories

from .bench import BENCH
from .search import Guarantee, GuaranteedNetwork

TOP, STREAMS, MESH = "pointsman_noc", "pointsman_noc_streams", "pointsman_noc_mesh"
"""Modules: the top, the streams at the ports of the nodes, the routers."""


LONGEST_NAME = 60
"""Characters of a stream's name before what makes it different from others."""


def noc_files(network: GuaranteedNetwork, full_bits: Kept = "memory") -> dict[str, str]:
    """Texts of all files, by name. ``full_bits``: where routers keep those of buffers, as in `numesh.node.Node`."""
    report = json.dumps(noc_report(network), indent=1) + "\n"
    return {
        "noc.v": noc_verilog(network, full_bits),
        "noc.core": core_file("noc", _about(network), ["noc.v"], TOP),
        "report.json": report,
        "report.md": noc_markdown(network),
        "test_noc.py": BENCH,
    }


def stream_names(network: GuaranteedNetwork) -> list[tuple[str, tuple[str, ...]]]:
    """Prefixes of each flow's streams: at its source, and at its destinations."""
    used: set[str] = set()

    def unused(name: str) -> str:
        plain = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower()[:LONGEST_NAME] or "flow"
        found, count = plain, 1
        while found in used:
            count += 1
            found = f"{plain}_{count}"
        used.add(found)
        return found

    names = []
    tasks = network.flows.tasks
    for flow in network.flows.flows:
        stem = unused(flow.name)
        ends: tuple[str, ...] = (stem,)
        if len(flow.destinations) > 1:
            ends = tuple(unused(f"{stem}_at_{tasks[task].name}") for task in flow.destinations)
        names.append((f"s_axis_{stem}", tuple(f"m_axis_{end}" for end in ends)))
    return names


def noc_verilog(network: GuaranteedNetwork, full_bits: Kept = "memory") -> str:
    """Verilog: module ``pointsman_noc`` with ``clk``, ``rst`` and the streams of all flows, and every module below it."""
    shape, nodes = network.images.shape, network.images.topology.nodes
    host = HostShape(nodes=nodes, registers=shape.registers, width=shape.width)
    ends = []
    for (source, outs), given in zip(stream_names(network), network.guarantees, strict=True):
        service = given.service
        ends.append(_end(source, service.source, into=True))
        ends += [_end(name, port, into=False) for name, port in zip(outs, service.destinations, strict=True)]
    streams = TimetabledStreams(shape=host, period=network.period, ends=ends)
    links = [(link.node, link.port, link.other, link.other_port) for link in network.images.topology.links]
    mesh = mesh_verilog(shape, nodes, links, name=MESH, contents=_contents(network), full_bits=full_bits)
    # The routers come first, with comments that switch off warnings for the whole file.
    return "".join([_head(network), mesh, component_verilog(streams, STREAMS), "\n", _top(network, ends)])


def _end(prefix: str, port: Any, *, into: bool) -> TimetabledEnd:
    return TimetabledEnd(prefix, port.node, port.register, into, tuple(sorted(port.slots)))


def _contents(network: GuaranteedNetwork) -> list[NodeMemories]:
    """Memories of each node: the timetable runs from reset on."""
    shape = network.images.shape
    idle = ((0,) * shape.pipelines,) * network.period
    contents = []
    for node in network.images.nodes:
        annotations: list[dict[int, Any]] = [{} for _ in range(shape.pipelines)]
        rows = idle
        for part in node.phases:
            rows = part.schedule
            for rewrite in part.annotations:
                annotations[rewrite.pipeline][rewrite.vfsm] = rewrite.annotation
        contents.append(NodeMemories.looping(shape, rows, annotations))
    return contents


def _top(network: GuaranteedNetwork, ends: list[TimetabledEnd]) -> str:
    """The module at the top: streams, routers, and a reset that lasts long enough to empty the routers.

    Streams in wait some cycles more: a word that is written before the first slot's read would miss its slot.
    """
    shape, nodes = network.images.shape, network.images.topology.nodes
    bits = f"[{shape.width - 1}:0] "
    ports, inner, wires = ["input clk", "input rst"], [".clk(clk)", ".rst(reset)"], []
    for end in ends:
        first, second = ("input", "output") if end.into else ("output", "input")
        ports += [f"{first} {end.prefix}_tvalid", f"{second} {end.prefix}_tready", f"{first} {bits}{end.prefix}_tdata"]
        names = {name: f"{end.prefix}_{name}" for name in ("tvalid", "tready", "tdata")}
        if end.into:
            ready = names["tready"]
            wires.append(f"  wire {ready}_inner;\n  assign {ready} = {ready}_inner & ~waiting;\n")
            names |= {"tready": f"{ready}_inner", "tvalid": f"{names['tvalid']} & ~waiting"}
        inner += [f".{end.prefix}_{name}({signal})" for name, signal in names.items()]
    below = [".clk(clk)", ".rst(reset)"]
    for node in range(nodes):
        for name, member in processor_members(shape).items():
            width = Shape.cast(member.shape).width
            span = f"[{width - 1}:0] " if width > 1 else ""
            wires.append(f"  wire {span}{name}_{node};\n")
            for list_of in (inner, below):
                list_of.append(f".{name}_{node}({name}_{node})")
    cycles, later = _reset_cycles(network), _later(network)
    width = cycles.bit_length()
    return (
        f"module {TOP}(\n  " + ",\n  ".join(ports) + "\n);\n"
        "  // Reset empties the routers' buffers one a cycle, so a shorter one is made longer. None is needed at power-up.\n"
        "  // Then a period or more passes until each word that is taken finds the slot that is its own.\n"
        f"  reg [{width - 1}:0] left = {width}'d{later};\n"
        f"  wire reset = rst | (left > {width}'d{later});\n"
        "  wire waiting = rst | (left != 0);\n"
        "  always @(posedge clk)\n"
        f"    if (rst) left <= {width}'d{cycles};\n"
        f"    else if (left != 0) left <= left - {width}'d1;\n"
        + "".join(wires)
        + f"  {STREAMS} streams (\n    "
        + ",\n    ".join(inner)
        + f"\n  );\n  {MESH} routers (\n    "
        + ",\n    ".join(below)
        + "\n  );\nendmodule\n\n"
    )


def _later(network: GuaranteedNetwork) -> int:
    """Cycles from the end of the routers' reset until streams are ready: whole periods, and not before the first slot's read."""
    return -(-FIRST_READ // network.period) * network.period


def _reset_cycles(network: GuaranteedNetwork) -> int:
    """Cycles after a reset of one cycle until streams are ready."""
    return network.images.shape.reset_cycles + _later(network)


def _head(network: GuaranteedNetwork) -> str:
    flows = "".join(
        f"//   {_plain(given.flow.name)}: {_rate(given)} words a cycle, {given.worst.latency} cycles at most\n"
        for given in network.guarantees
    )
    return f"// {_about(network)}\n{flows}"


def _rate(given: Guarantee) -> str:
    """Words a cycle at which a flow's bound holds."""
    return f"{given.flow.bandwidth:g}" if given.flow.bandwidth else f"{given.rate} (best effort)"


def _plain(name: str) -> str:
    """A name in a line of printable characters: it comes from a file, and goes into comments and tables."""
    return "".join(letter if letter.isprintable() else " " for letter in name).encode("ascii", "replace").decode()


def _about(network: GuaranteedNetwork) -> str:
    return (
        f"Network of {len(network.flows.flows)} guaranteed flows on a {network.images.topology.described}, "
        f"timetable of {network.period} cycles"
    )


def noc_report(network: GuaranteedNetwork) -> dict[str, Any]:
    """Places, and for each flow what it demands and is guaranteed; ``cases`` are those that meet the bounds."""
    tasks = network.flows.tasks
    return {
        "network": network.images.topology.described,
        "period": network.period,
        "shape": network.images.shape.as_dict(),
        "reset_cycles": _reset_cycles(network),
        "places": {task.name: node for task, node in zip(tasks, network.places, strict=True)},
        "flows": [
            _flow(given, names, network) for given, names in zip(network.guarantees, stream_names(network), strict=True)
        ],
    }


def _flow(given: Guarantee, names: tuple[str, tuple[str, ...]], network: GuaranteedNetwork) -> dict[str, Any]:
    tasks, flow = network.flows.tasks, given.flow
    return {
        "name": flow.name,
        "from": tasks[flow.source].name,
        "to": [tasks[task].name for task in flow.destinations],
        "source": names[0],
        "destinations": list(names[1]),
        "demanded": flow.bandwidth,
        "rate": [given.rate.numerator, given.rate.denominator],
        "guaranteed": given.words / network.period,
        "links": given.hops,
        "limit": flow.latency,
        "worst_latency": given.worst.latency,
        "case": {"start": given.worst.start, "word": given.worst.word},
    }


def noc_markdown(network: GuaranteedNetwork) -> str:
    """The report for people."""
    lines = [
        f"# {_about(network)}",
        "",
        "| flow | streams | demanded | guaranteed | links | worst latency | limit |",
        "|---|---|---|---|---|---|---|",
    ]
    for given, (source, ends) in zip(network.guarantees, stream_names(network), strict=True):
        limit = "" if given.flow.latency is None else f"{given.flow.latency:g}"
        lines.append(
            f"| {_plain(given.flow.name).replace('|', '/')} | {source} → {', '.join(ends)} | {_rate(given)} | "
            f"{given.words}/{network.period} = {given.words / network.period:.3f} | {given.hops} | "
            f"{given.worst.latency} | {limit} |"
        )
    lines += [
        "",
        "Words a cycle, and cycles from when a word is offered to when it is handed over. A flow's guarantee holds while between",
        "any two of its words, m words apart, pass at least floor(m / demanded) cycles and its own receivers are ready, whatever",
        "all other flows do. A flow of best effort has a word in a period, and may demand that.",
        "",
    ]
    return "\n".join(lines)
