"""The benches of the node and of its mesh, with their designs.

Sizes are odd on purpose where a block allows it: three pipelines, registers that are no power of two, commands of
several words. Separate benches run the standard shape.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from cosim.benches.bench import FOUR_NODES, Bench, Design, converted
from numesh.codes import Codes
from numesh.shape import NodeShape
from pointsman.network import Topology, mesh

STANDARD = NodeShape()
ODD = NodeShape(pipelines=3, vfsms=8, schedule_depth=16, neighbours=3, registers=5, width=12)
NARROW = NodeShape(pipelines=2, vfsms=8, schedule_depth=16, neighbours=2, registers=3, width=7)
SQUARE: Topology = mesh(3, 3)
CUBE: Topology = mesh(2, 2, 2)
SIX = NodeShape(neighbours=6)
"""The standard shape in three dimensions."""


def random_words(count: int, bits: int, name: str) -> tuple[int, ...]:
    """Contents of a memory, the same in every run, so that the simulator need not be built again."""
    random = Random(name)
    return tuple(random.getrandbits(bits) for _ in range(count))


def schedule_contents(shape: NodeShape) -> tuple[int, ...]:
    """Power-up contents of the schedule stage in its bench."""
    return random_words(shape.schedule_depth, sum(Codes(shape).entry_layout.values()), "schedule")


def annotation_contents(shape: NodeShape) -> tuple[int, ...]:
    """Power-up contents of the annotation stage in its bench."""
    return random_words(shape.vfsms, sum(Codes(shape).annotation_layout.values()), "annotation")


# -- Verilog; Amaranth is only imported when it is asked for --------------------------------------------------


def _schedule(shape: NodeShape) -> Any:
    from numesh.schedule import ScheduleStage

    return ScheduleStage(shape=shape, contents=schedule_contents(shape))


def _annotation(shape: NodeShape) -> Any:
    from numesh.annotation import AnnotationStage

    return AnnotationStage(shape=shape, contents=annotation_contents(shape))


def _interface(shape: NodeShape) -> Any:
    from numesh.interface import InterfaceRegisters

    return InterfaceRegisters(shape=shape)


def _transfer(shape: NodeShape) -> Any:
    from numesh.transfer import TransferStages

    return TransferStages(shape=shape)


def _assemblers(shape: NodeShape) -> Any:
    """An assembler per pipeline, all given the same words; output ports have the pipeline's number at the end."""
    from amaranth.hdl import Module
    from amaranth.lib import wiring
    from amaranth.lib.wiring import In

    from numesh.memadr import CommandAssembler

    parts = [CommandAssembler(shape=shape, pipeline=p) for p in range(shape.pipelines)]

    class Assemblers(wiring.Component):
        def __init__(self) -> None:
            members = {}
            for p, part in enumerate(parts):
                for name, member in part.signature.members.items():
                    members[name if member.flow == In else f"{name}_{p}"] = member
            super().__init__(members)

        def elaborate(self, platform: object) -> Module:
            m = Module()
            for p, part in enumerate(parts):
                m.submodules[f"assembler_{p}"] = part
                for name, member in part.signature.members.items():
                    if member.flow == In:
                        m.d.comb += getattr(part, name).eq(getattr(self, name))
                    else:
                        m.d.comb += getattr(self, f"{name}_{p}").eq(getattr(part, name))
            return m

    return Assemblers()


def _node(shape: NodeShape) -> str:
    from numesh.emit import node_verilog

    return node_verilog(shape)


def _mesh(shape: NodeShape, topology: Topology, top: str) -> str:
    from numesh.emit import mesh_verilog

    links = [(link.node, link.port, link.other, link.other_port) for link in topology.links]
    return mesh_verilog(shape, topology.nodes, links, name=top)


def _mesh_design(topology: Topology, shape: NodeShape) -> Design:
    verilog = partial(_mesh, shape, topology, "numesh_mesh")
    return Design(f"mesh_{topology}", "numesh_mesh", verilog, ("numesh_node",))


def _mesh_bench(topology: Topology, shape: NodeShape, about: str) -> Bench:
    design = _mesh_design(topology, shape)
    return Bench(design.name, "numesh.mesh", shape, design, about, topology=topology)


def _block(name: str, shape: NodeShape, component: Callable[[NodeShape], Any], about: str) -> Bench:
    top = f"bench_{name}"
    return Bench(name, f"numesh.{name}", shape, Design(name, top, partial(converted, component, shape, top)), about)


def _images(folder: Path) -> None:
    from cosim.benches.programs import prepare

    prepare(FOUR_NODES, STANDARD, folder)


_FOUR_NODES = _mesh_bench(FOUR_NODES, STANDARD, "four nodes and the links between them")

BENCHES: tuple[Bench, ...] = (
    _block("schedule", ODD, _schedule, "schedule memory and pointer"),
    _block("annotation", ODD, _annotation, "annotation memory"),
    _block("memadr", NARROW, _assemblers, "command assemblers of all pipelines, commands of several words"),
    _block("interface", ODD, _interface, "interface registers, processor port"),
    _block("transfer", ODD, _transfer, "read and write stage of one pipeline, with its buffers"),
    Bench(
        "node",
        "numesh.node",
        STANDARD,
        Design("node", "numesh_node", partial(_node, STANDARD)),
        "a whole node of the standard shape",
    ),
    Bench(
        "node_odd",
        "numesh.node",
        ODD,
        Design("node_odd", "numesh_node", partial(_node, ODD)),
        "a whole node with three pipelines, five registers and commands of two words",
    ),
    _FOUR_NODES,
    _mesh_bench(SQUARE, STANDARD, "nine nodes, one of them with neighbours on all sides"),
    _mesh_bench(CUBE, SIX, "eight nodes in three dimensions, with six links each"),
    Bench(
        "image_2x2",
        "numesh.image",
        STANDARD,
        _FOUR_NODES.design,
        "compiled programs, loaded and run by the processors of a mesh",
        _images,
    ),
)
