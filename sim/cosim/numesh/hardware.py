"""The mesh of scheduled routers as hardware for the verilated engine."""

from __future__ import annotations

import re
from pathlib import Path

import numesh
from cosim.engines.verilated.kept import kept_verilog
from cosim.hardware import Hardware, Register, Wire, output
from numesh.emit import NODE_MODULE
from numesh.shape import NodeShape
from pointsman.network import Topology


def numesh_hardware(shape: NodeShape, topology: Topology, node: str) -> Hardware:
    """A mesh. ``node`` is the Verilog of a node, as `numesh.emit.node_verilog` writes it."""
    wires = []
    for d in range(shape.neighbours):
        wires += [
            Wire(name=f"in_valid_{d}"),
            Wire(name=f"in_data_{d}", width=shape.width),
            Wire(name=f"in_accept_{d}", output=True),
            Wire(name=f"out_valid_{d}", output=True),
            Wire(name=f"out_data_{d}", width=shape.width, output=True),
            Wire(name=f"out_accept_{d}"),
        ]
    joints = []
    for joined in topology.at_port:
        inputs = {}
        for port, (other, other_port) in joined.items():
            inputs[f"in_valid_{port}"] = output(other, f"out_valid_{other_port}")
            inputs[f"in_data_{port}"] = output(other, f"out_data_{other_port}")
            inputs[f"out_accept_{port}"] = output(other, f"in_accept_{other_port}")
        joints.append(inputs)
    return Hardware(
        name=f"a {topology} {topology.kind}",
        blocks=topology.nodes,
        module=NODE_MODULE,
        verilog=node,
        registers=shape.registers,
        width=shape.width,
        wires=wires,
        joints=joints,
        state=node_state(shape, node),
        registered=True,
        quiet_cycles=4 * shape.schedule_depth * topology.nodes + 1000,
    )


def node_state(shape: NodeShape, node: str) -> dict[str, Register]:
    """Registers and memories of a node that are shown to Python.

    Registers that the node's Verilog lacks are left out: a tool may have renamed a register that only tests use.
    """
    wanted = {"schedule": ["ram", "running", "setting", "value"]}
    wanted["interface"] = [f"bank_{k}" for k in range(shape.pipelines + 1)]
    wanted["interface"] += ["full_processor", *(f"full_pipeline_{p}" for p in range(shape.pipelines))]
    for p in range(shape.pipelines):
        wanted[f"annotation_{p}"] = ["ram", "active", "decode_vfsm"]
        wanted[f"command_{p}"] = ["count"]
        wanted[f"transfer_{p}"] = ["held", "buffers", "out_data", "read_active", "read_vfsm", "read_idle"]
        write_stage = ("valid", "vfsm", "type", "destination", "forked", "from_buffer")
        wanted[f"transfer_{p}"] += [f"write_{name}" for name in write_stage]
    found = {}
    for block, names in wanted.items():
        module = f"{NODE_MODULE}_{block}"
        body = re.search(rf"^module {module} ?\(.*?^endmodule", node, re.M | re.S)
        for name in names:
            if body and re.search(rf"^  (?:output )?reg (?:\[\d+:0\] )?{name}\b", body[0], re.M):
                found[f"{block}.{name}"] = Register(module, name, block, writable=name == "ram")
    return found


def kept_node_verilog(shape: NodeShape) -> str:
    """Verilog of a node, as `numesh.emit.node_verilog` writes it."""

    def make() -> str:
        from numesh.emit import node_verilog

        return node_verilog(shape)

    return kept_verilog(Path(numesh.__file__ or "").parent, repr(shape), make)
