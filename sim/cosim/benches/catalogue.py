"""All benches, with the designs that they run.

Sizes are odd on purpose where a block allows it: three pipelines, registers that are no power of two, commands of
several words. The standard shape has benches of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from numesh.codes import Codes
from numesh.shape import NodeShape
from packet_router.shape import RouterShape
from pointsman.errors import PointsmanError
from pointsman.network import Topology, mesh
from tdm_switch.shape import SwitchShape

STANDARD = NodeShape()
ODD = NodeShape(pipelines=3, vfsms=8, schedule_depth=16, neighbours=3, registers=5, width=12)
NARROW = NodeShape(pipelines=2, vfsms=8, schedule_depth=16, neighbours=2, registers=3, width=7)
MESH: Topology = mesh(2, 2)
SQUARE: Topology = mesh(3, 3)
CUBE: Topology = mesh(2, 2, 2)
SIX = NodeShape(neighbours=6)
"""The standard shape in three dimensions."""
PACKETS = {
    "packet_2x2": RouterShape(size=(2, 2), routing="adaptive", channels=3, buffer=4, addresses=4, queue=4),
    "packet_ring": RouterShape(size=(3,), torus=True, buffer=4, addresses=4, queue=4),
}
"""Packet networks, by bench."""
_SWITCH: dict[str, Any] = {"queue_depth": 4, "buffer_depth": 4, "slot_cycles": 4, "age_bits": 4, "stored": 2}
SWITCH = SwitchShape(**_SWITCH, ports=4, slots=3)
SWITCH_TABLES = SwitchShape(ports=4, slots=4, queue_depth=8, buffer_depth=8, age_bits=6, stored=0)
SWITCH_UNITS = SwitchShape(
    **_SWITCH | {"guard_cycles": 2}, ports=3, slots=5, sl_units=2, sl_cycles=3, order="wrapped", priority="random"
)
SWITCH_WRAPPED = SwitchShape(**_SWITCH, ports=3, slots=2, order="wrapped")


@dataclass(frozen=True)
class Design:
    """What Verilator compiles.

    Parameters
    ----------
    name : str
        Of the executable.
    top : str
        Top module.
    verilog : callable
        Gives the text.
    visible : tuple of str
        Modules, besides the top, whose ports the bench looks at.
    """

    name: str
    top: str
    verilog: Callable[[], str]
    visible: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bench:
    """A test bench.

    Parameters
    ----------
    name : str
        Its name on the command line.
    module : str
        Python module, next to this one, with the cocotb test.
    shape : NodeShape or SwitchShape
        Sizes of the nodes, or of the switch.
    design : Design
        What it runs.
    about : str
        What it shows, in a few words.
    prepare : callable or None
        Makes files that it needs in a folder.
    topology : Topology or None
        Of the mesh, if it runs one.
    """

    name: str
    module: str
    shape: Any
    design: Design
    about: str
    prepare: Callable[[Path], None] | None = None
    topology: Topology | None = None


def find(name: str) -> Bench:
    """The bench of this name.

    Raises
    ------
    PointsmanError
        If there is none.
    """
    for bench in BENCHES:
        if bench.name == name:
            return bench
    raise PointsmanError(f"there is no bench {name!r}", hint=f"there are: {', '.join(b.name for b in BENCHES)}")


def random_words(count: int, bits: int, name: str) -> tuple[int, ...]:
    """Contents of a memory, the same in every run, so that the simulator need not be built again."""
    random = Random(name)
    return tuple(random.getrandbits(bits) for _ in range(count))


def schedule_contents(shape: NodeShape) -> tuple[int, ...]:
    """Power-up contents of the schedule stage on its own."""
    return random_words(shape.schedule_depth, sum(Codes(shape).entry_layout.values()), "schedule")


def annotation_contents(shape: NodeShape) -> tuple[int, ...]:
    """Power-up contents of the annotation stage on its own."""
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


def _convert(component: Callable[[Any], Any], shape: NodeShape | SwitchShape, top: str) -> str:
    from amaranth.back import verilog

    return verilog.convert(component(shape), name=top, strip_internal_attrs=True, emit_src=False)


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
    return Bench(design.name, "mesh", shape, design, about, topology=topology)


def _block(name: str, shape: NodeShape, component: Callable[[NodeShape], Any], about: str) -> Bench:
    top = f"bench_{name}"
    return Bench(name, name, shape, Design(name, top, partial(_convert, component, shape, top)), about)


def _packets(name: str) -> str:
    from packet_router.emit import component_verilog
    from packet_router.mesh import Mesh

    return component_verilog(Mesh(shape=PACKETS[name], open_sides=True), "packet_mesh")


def _packet_bench(name: str, about: str) -> Bench:
    return Bench(name, "packet", STANDARD, Design(name, "packet_mesh", partial(_packets, name)), about)


def _tdm_arrays(shape: SwitchShape) -> Any:
    """The scheduler array in its variants, all given the same slot; the pipelined one slot after slot."""
    from amaranth.hdl import Cat, Module, Signal, Value
    from amaranth.lib import wiring
    from amaranth.lib.wiring import In, Out

    from tdm_switch.array import SchedulerArray
    from tdm_switch.matrix import columns_any, rows_any
    from tdm_switch.pipelined_array import PipelinedArray
    from tdm_switch.shape import bits_for

    n = shape.ports

    class Arrays(wiring.Component):
        def __init__(self) -> None:
            members = {"b": In(n * n), "l": In(n * n), "row": In(bits_for(n)), "column": In(bits_for(n))}
            outputs = ("t_plain", "t_turned", "t_wrapped", "t_pipelined")
            super().__init__(members | {name: Out(n * n) for name in outputs})

        def elaborate(self, platform: object) -> Module:
            m = Module()

            def later(value: Value, cycles: int) -> Value:
                for _ in range(cycles):
                    kept = Signal(len(value))
                    m.d.sync += kept.eq(value)
                    value = kept
                return value

            outputs, inputs = columns_any(self.b, n), rows_any(self.b, n)
            for name, order, rotated in (
                ("plain", "plain", False),
                ("turned", "plain", True),
                ("wrapped", "wrapped", True),
            ):
                m.submodules[name] = array = SchedulerArray(ports=n, order=order, rotated=rotated)
                m.d.comb += [array.l.eq(self.l), array.b.eq(self.b), array.a.eq(outputs), array.d.eq(inputs)]
                if rotated:
                    m.d.comb += [array.row.eq(self.row), array.column.eq(self.column)]
                m.d.comb += getattr(self, f"t_{name}").eq(array.t)
            m.submodules.pipelined = pipelined = PipelinedArray(ports=n)
            cells = [(u, v) for u in range(n) for v in range(n)]
            m.d.comb += [
                pipelined.l.eq(Cat(later(self.l[u * n + v], u + v) for u, v in cells)),
                pipelined.b.eq(Cat(later(self.b[u * n + v], u + v) for u, v in cells)),
                pipelined.a.eq(Cat(later(outputs[v], v) for v in range(n))),
                pipelined.d.eq(Cat(later(inputs[u], u) for u in range(n))),
                self.t_pipelined.eq(pipelined.t),
            ]
            return m

    return Arrays()


def _tdm_scheduler(shape: SwitchShape) -> Any:
    from tdm_switch.scheduler import Scheduler

    return Scheduler(shape=shape)


def _tdm_switch(shape: SwitchShape) -> str:
    from tdm_switch.emit import switch_verilog

    return switch_verilog(shape)


def _tdm_block(name: str, shape: SwitchShape, component: Callable[[Any], Any], about: str) -> Bench:
    top = f"bench_{name}"
    module = "_".join(name.split("_")[:2])
    return Bench(name, module, shape, Design(name, top, partial(_convert, component, shape, top)), about)


def _tdm_bench(name: str, shape: SwitchShape, about: str) -> Bench:
    return Bench(name, "tdm_switch", shape, Design(name, "tdm_switch", partial(_tdm_switch, shape)), about)


def _images(folder: Path) -> None:
    from .programs import prepare

    prepare(MESH, STANDARD, folder)


def _tables(folder: Path) -> None:
    from .tdm_tables import prepare

    prepare(MESH, SWITCH_TABLES, folder)


_FOUR_NODES = _mesh_bench(MESH, STANDARD, "four nodes and the links between them")

BENCHES: tuple[Bench, ...] = (
    _block("schedule", ODD, _schedule, "schedule memory and pointer"),
    _block("annotation", ODD, _annotation, "annotation memory"),
    _block("memadr", NARROW, _assemblers, "command assemblers of all pipelines, commands of several words"),
    _block("interface", ODD, _interface, "interface registers, processor port, arbitration"),
    _block("transfer", ODD, _transfer, "read and write stage of one pipeline, with its buffers"),
    Bench(
        "node",
        "node",
        STANDARD,
        Design("node", "numesh_node", partial(_node, STANDARD)),
        "a whole node of the standard shape",
    ),
    Bench(
        "node_odd",
        "node",
        ODD,
        Design("node_odd", "numesh_node", partial(_node, ODD)),
        "a whole node with three pipelines, five registers and commands of two words",
    ),
    _FOUR_NODES,
    _mesh_bench(SQUARE, STANDARD, "nine nodes, one of them with neighbours on all sides"),
    _mesh_bench(CUBE, SIX, "eight nodes in three dimensions, with six links each"),
    Bench(
        "image_2x2",
        "image",
        STANDARD,
        _FOUR_NODES.design,
        "compiled programs, loaded and run by the processors of a mesh",
        _images,
    ),
    _packet_bench("packet_2x2", "packet routers, adaptive: random messages between four nodes"),
    _packet_bench("packet_ring", "packet routers in a ring: random messages in dimension order"),
    _tdm_block("tdm_array", SwitchShape(ports=5), _tdm_arrays, "scheduler arrays: plain, turned, wrapped, pipelined"),
    _tdm_block(
        "tdm_scheduler", SWITCH, _tdm_scheduler, "scheduler of the switch: slots, latches, predictors, commands"
    ),
    _tdm_block(
        "tdm_scheduler_units", SWITCH_UNITS, _tdm_scheduler, "the same with two units, decisions of three cycles"
    ),
    _tdm_bench("tdm_switch", SWITCH, "a whole switch with four processors"),
    Bench(
        "tdm_tables",
        "tdm_tables",
        SWITCH_TABLES,
        Design("tdm_tables", "tdm_switch", partial(_tdm_switch, SWITCH_TABLES)),
        "compiled connection tables, loaded and used, every word compared",
        _tables,
    ),
    _tdm_bench("tdm_switch_wrapped", SWITCH_WRAPPED, "a whole switch with three processors and wrapped diagonals"),
)
