"""Networks of packet routers as hardware for the verilated engine."""

from __future__ import annotations

from collections.abc import Mapping

from cosim.hardware import Hardware, Wire, output
from packet_router.emit import NODE_MODULE, node_verilog
from packet_router.mesh import joints
from packet_router.router import link_members
from packet_router.shape import RouterShape


def packet_hardware(shape: RouterShape) -> Hardware:
    """All nodes of a packet network, with their processor ports."""
    return network_hardware(shape, NODE_MODULE, _without_comments(node_verilog(shape)), shape.registers)


def _without_comments(verilog: str) -> str:
    """Lines of comment name the size of the network, and a router is the same in all networks whose coordinates have as many
    bits: without them these share a build."""
    return "".join(line for line in verilog.splitlines(keepends=True) if not line.startswith("//"))


def network_hardware(shape: RouterShape, module: str, verilog: str, registers: int) -> Hardware:
    """All nodes of a packet network: Verilog modules ``module`` with ``registers`` registers at the processor port."""
    from amaranth.hdl import Shape
    from amaranth.lib.wiring import Out

    wires = [
        Wire(name=name, width=Shape.cast(member.shape).width, output=member.flow == Out)
        for name, member in link_members(shape).items()
    ]
    wires.append(Wire(name="here", width=shape.here_bits))
    return Hardware(
        name=f"a {'x'.join(map(str, shape.size))} {_kind(shape)} of packet routers",
        blocks=shape.nodes,
        module=module,
        verilog=verilog,
        registers=registers,
        width=shape.width,
        write_full="p_write_full",
        read_full="p_read_full",
        wires=wires,
        joints=[_joints(shape, node) for node in range(shape.nodes)],
        quiet_cycles=quiet_cycles(shape),
        registered=True,
    )


def quiet_cycles(shape: RouterShape) -> int:
    """Cycles without an access after which a run is a deadlock."""
    # A message may be as long as the longest program's; nothing is lost by being patient.
    return 20_000 + 100 * shape.nodes


def _kind(shape: RouterShape) -> str:
    if shape.graph is not None:
        return "graph"
    return "torus" if shape.torus else "mesh"


def _joints(shape: RouterShape, node: int) -> Mapping[str, str]:
    found = {name: output(*driver) for name, driver in joints(shape, node).items() if driver is not None}
    found["here"] = f"{shape.here_bits}'d{shape.pack(shape.place(node))}"
    return found
