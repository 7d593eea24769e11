"""A chip of RISC-V nodes: a mesh whose processors are PicoRV32s, running a COP program in C, as RTL in Verilator or Icarus.

    python examples/soc/soc.py matmul [--mesh 2x2] [--side 6] [--folder build/soc]

From ``NAME.c``, which holds the COP text and the C of a node, come images (compiled and proved as ever), C (``--emit c``), a
binary for each node (ziglang's compiler), and the Verilog of routers with these images, bridges and nodes. What every node
outputs must be what ``NAME.py`` computes, and every word that goes through a processor port must be a word of the Python
application's run, in its order.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosim.numesh.machine import Machine
from cosim.numesh.session import Run, run_application
from host.emit import bridge_verilog
from host.shape import HostShape
from numesh.codes import CommandKind
from numesh.emit import mesh_verilog
from numesh.shape import NodeShape
from pointsman import api
from pointsman.artifacts.images.images import Images
from pointsman.artifacts.images.readmemh import memories_of
from pointsman.errors import PointsmanError
from pointsman.files import write_whole
from pointsman.network import Topology, mesh
from pointsman.network.topology import parse_size
from pointsman.runtime import Application
from pointsman.runtime.api.application import load_application

HERE = Path(__file__).parent
CATEGORIES = ("cpu", "write", "read", "psync", "router", "reprog")
PACE, SLACK = 200, 1500
"""`PM_PACE` and `PM_SLACK` of the driver on a PicoRV32: some forty instructions of
four to five cycles from one access to the next, where two lanes move together."""
MEMORY = 8192
"""Words of a node's memory."""
SPOKEN = 16
"""Most nodes whose output a serial line tells apart."""
PROFILED = 30_000
"""Cycles that tell the compiler what is done often."""
TARGET = ("--target=riscv32-freestanding-none", "-mcpu=generic_rv32+m")
FLAGS = ("-std=c99", "-ffreestanding", "-fno-builtin", "-O2", "-g0", "-Wall", "-Wextra", "-Werror", "-nostdlib")


@dataclass(frozen=True)
class Chip:
    """A program for a mesh of RISC-V nodes: everything but a simulator."""

    name: str
    images: Images
    application: Application
    folder: Path
    sources: tuple[Path, ...]
    """Verilog files; the module of the whole is ``soc``."""


@dataclass(frozen=True)
class Outcome:
    """What a simulation of the whole gave.

    ``output``: words by node; ``words``: by node and register, what went through it, if that was asked for; ``computed``:
    cycles after reset until each node has a word to output; ``cycles``: until all have ended.
    """

    output: Mapping[int, list[int]]
    words: Mapping[tuple[int, int], list[int]]
    computed: int
    cycles: int
    status: int
    seconds: float

    def application(self, node: int) -> list[int]:
        """Output of a node but for what ``finish`` of soc.h puts behind it."""
        return self.output[node][: -len(CATEGORIES) - 1]

    def spent(self, node: int) -> dict[str, int]:
        """Cycles of a node by category."""
        return dict(zip(CATEGORIES, self.output[node][-len(CATEGORIES) - 1 : -1], strict=True))

    def changes(self, node: int) -> int:
        """Changes of phase of a node."""
        return self.output[node][-1]


def application_of(name: str, topology: Topology, side: int) -> Application:
    """The application in Python."""
    kind = load_application(HERE / f"{name}.py")
    return kind(argparse.Namespace(side=side), topology)


def make(name: str, size: Sequence[int], side: int, folder: Path, divisor: int = 0) -> Chip:
    """Compile a program for all nodes, and write the Verilog.

    Parameters
    ----------
    divisor : int
        Cycles of a bit on the serial line that sends what the nodes output; 0: nothing is sent.

    Raises
    ------
    PointsmanError
        If there is no such program, it does not fit, or a tool fails.
    """
    source = HERE / f"{name}.c"
    if not source.is_file():
        raise PointsmanError(f"there is no program {source}")
    topology = mesh(*size)
    folder.mkdir(parents=True, exist_ok=True)
    application = application_of(name, topology, side)
    compiled = api.compile(source, topology, parameters=application.parameters())
    compiled.write_c(folder)
    images: Images = compiled.artifact
    shape = images.shape
    links = [(link.node, link.port, link.other, link.other_port) for link in topology.links]
    write_whole(folder / "mesh.v", mesh_verilog(shape, topology.nodes, links, contents=memories_of(images)))
    write_whole(folder / "bridge.v", bridge_verilog(HostShape(registers=shape.registers), "wishbone"))
    write_whole(folder / "soc.v", top_verilog(shape, topology.nodes, divisor))
    for node in range(topology.nodes):
        write_whole(folder / f"node_{node}.hex", _hex(_binary(name, node, topology, side, shape, folder)))
    sources = (
        *(folder / part for part in ("soc.v", "mesh.v", "bridge.v")),
        *(HERE / part for part in ("soc_node.v", "soc_serial.v")),
        picorv32(),
    )
    return Chip(name, images, application, folder, sources)


def picorv32() -> Path:
    """The processor's Verilog, from its package."""
    specification = importlib.util.find_spec("pythondata_cpu_picorv32")
    if specification is None or specification.origin is None:
        raise PointsmanError("the package pythondata-cpu-picorv32 is not there", hint="pip install pointsman[riscv]")
    return Path(specification.origin).parent / "verilog" / "picorv32.v"


def top_verilog(shape: NodeShape, nodes: int, divisor: int = 0) -> str:
    """Module ``soc``: the mesh of routers, a node of ``soc_node.v`` at each processor port, and the serial line."""
    if divisor and nodes > SPOKEN:
        raise PointsmanError(
            f"the serial line names a node by one digit, so there must be at most {SPOKEN}, not {nodes}"
        )
    bits = (shape.registers - 1).bit_length()
    wires, instances, ports = [], [], []
    for node in range(nodes):
        names = ("p_address", "p_write", "p_read", "p_write_data", "p_full", "p_read_data")
        for name, width in zip(names, (bits, 1, 1, 32, shape.registers, 32), strict=True):
            wires.append(f"    wire [{width - 1}:0] {name}_{node};")
            ports.append(f".{name}_{node}({name}_{node})")
        wires.append(f"    wire [31:0] status_{node};")
        joined = ", ".join(f".{name}({name}_{node})" for name in names)
        instances += [
            f"    soc_node #(.NODE({node}), .WORDS({MEMORY}), .REGISTERS({shape.registers}), "
            f'.FIRMWARE("node_{node}.hex")) node_{node} (',
            f"        .clk(clk), .rst(reset), {joined},",
            f"        .out_request(requests[{node}]), .out_word(words[{32 * node} +: 32]), .out_accept(accepts[{node}]),",
            f"        .ended(all_ended[{node}]), .status(status_{node})",
            "    );",
        ]
    lines = [
        "// A mesh of routers with a RISC-V node at each processor port. Reset for as many cycles as a pipeline has VFSMs.",
        "module soc (input clk, input rst, output ended, output [31:0] status, output tx);",
        # From a flip-flop: what a simulator makes of inputs it makes three times a cycle.
        "    reg reset = 1;",
        "    always @(posedge clk) reset <= rst;",
        *wires,
        f"    wire [{nodes - 1}:0] all_ended, requests, accepts;",
        f"    wire [{32 * nodes - 1}:0] words;",
        # A node that has failed may be one for which others wait.
        "    assign ended = &all_ended || status != 0;",
        f"    assign status = {' | '.join(f'status_{node}' for node in range(nodes))};",
        *instances,
        f"    soc_serial #(.NODES({nodes}), .DIVISOR({divisor})) serial (",
        "        .clk(clk), .rst(reset), .requests(requests), .words(words), .accepts(accepts),",
        "        .ended(ended), .status(status), .tx(tx)",
        "    );",
        f"    numesh_mesh mesh (.clk(clk), .rst(reset), {', '.join(ports)});",
        "endmodule",
        "",
    ]
    return "\n".join(lines)


def _binary(name: str, node: int, topology: Topology, side: int, shape: NodeShape, folder: Path) -> bytes:
    """Program of a node, as it stands in its memory from address 0 on."""
    host = HostShape(registers=shape.registers)
    executable = folder / f"node_{node}.elf"
    defined = {
        "NODE": node,
        "XSIZE": topology.size[0],
        "YSIZE": topology.size[1],
        "SIDE": side,
        "COP_NODE": f"{name}_node_{node}",
        "PM_PRELOADED": 1,
        "PM_STATISTICS": 1,
        "PM_PACE": PACE,
        "PM_SLACK": SLACK,
        "PM_TIME": f"0x{0x20000000 + host.control('CYCLES_LOW'):x}",
        "PM_FULL_WORDS": host.full(0) // 4,
    }
    sources = [HERE / f"{name}.c", folder / "pm.c", folder / f"{name}_node_{node}.c"]
    caches = {"ZIG_GLOBAL_CACHE_DIR": str(folder / "zig"), "ZIG_LOCAL_CACHE_DIR": str(folder / "zig")}
    _run(
        [
            *(sys.executable, "-m", "ziglang", "cc", *TARGET, *FLAGS),
            *(f"-D{key}={value}" for key, value in defined.items()),
            *(f"-I{path}" for path in (folder, HERE)),
            *(f"-T{HERE / 'soc.ld'}", "-o", str(executable), *map(str, sources)),
        ],
        folder,
        {**os.environ, **caches},
    )
    return loaded(executable.read_bytes())


def loaded(elf: bytes) -> bytes:
    """Contents of memory from address 0 on, from the segments of a 32-bit ELF file."""
    if elf[:5] != b"\x7fELF\x01":
        raise PointsmanError("the compiler made no 32-bit ELF file")
    (headers,) = struct.unpack_from("<I", elf, 28)
    size, count = struct.unpack_from("<HH", elf, 42)
    memory = bytearray()
    for k in range(count):
        kind, offset, address, _, filled, room = struct.unpack_from("<6I", elf, headers + k * size)
        if kind != 1:
            continue
        if address + room > 4 * MEMORY - 1024:
            raise PointsmanError(f"a program of {address + room} bytes leaves no stack in a memory of {4 * MEMORY}")
        memory.extend(bytes(max(0, address + filled - len(memory))))
        memory[address : address + filled] = elf[offset : offset + filled]
    return bytes(memory)


def _hex(binary: bytes) -> str:
    padded = binary + bytes(-len(binary) % 4)
    words = [f"{word:08x}" if word else "0" for (word,) in struct.iter_unpack("<I", padded)]
    # Short zeros: a simulation reads them each time it starts.
    return "\n".join([*words, *["0"] * (MEMORY - len(words)), ""])


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise PointsmanError(f"{Path(command[0]).name} failed: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout


def verilated(
    chip: Chip,
    *,
    top: str = "soc",
    more: Sequence[Path] = (),
    defines: Mapping[str, int] | None = None,
    profiled: bool = False,
) -> list[str]:
    """Command of a simulation by Verilator; built if it is not in the folder already.

    Parameters
    ----------
    top : str
        The module that is clocked, by ``sim_main.cpp`` or ``board_main.cpp``.
    more : sequence of Path
        Verilog files besides the chip's.
    defines : mapping of str to int, optional
        Macros of the Verilog and of the main program.
    profiled : bool
        Compile twice, with g++, the second time by a profile of `PROFILED` cycles: it simulates some 5 % faster.
    """
    main = HERE / ("sim_main.cpp" if top == "soc" else f"{top}_main.cpp")
    macros = [f"-D{name}={value}" for name, value in (defines or {}).items()]
    sources = (*chip.sources, *more)
    settings = " ".join([*macros, "profiled"] if profiled else macros)
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in (*sources, main)) + settings.encode())
    place = chip.folder / f"verilated-{top}-{digest.hexdigest()[:16]}"
    if (place / f"V{top}").is_file():
        return [str(place / f"V{top}")]
    tool = shutil.which("verilator-cli", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if tool is None:
        raise PointsmanError("there is no verilator-cli", hint="it is in the package verilator")

    def build(name: str, *flags: str) -> None:
        reset = f"-DRESET_CYCLES={chip.images.shape.reset_cycles}"
        make_flags = "CFG_CXXFLAGS_PCH_I=-include OPT_FAST=-O2 OPT_SLOW=-O0"
        _run(
            [
                *(tool, "--cc", "--exe", "--build", "-O3", "--x-assign", "fast", "--x-initial", "fast"),
                # Without small modules in others, C++ compiles in half the time and simulates no slower.
                *("--inline-mult", "1"),
                *("-Wno-fatal", "-Wno-lint", "--top-module", top, "--prefix", f"V{top}", "-o", name, *macros),
                *("-CFLAGS", " ".join(["-march=native", reset, *macros, *flags]), "-MAKEFLAGS", make_flags),
                *(("-LDFLAGS", flags[0]) if flags else ()),
                *("--Mdir", str(place), *map(str, sources), str(main)),
            ],
            chip.folder,
        )

    if profiled:
        # A profile is kept under the name of its object file.
        build("profiling", "-fprofile-generate")
        _run([str(place / "profiling"), str(PROFILED)], chip.folder)
        for made in (*place.glob("*.o"), *place.glob("*.a"), *place.glob("*.gch")):
            made.unlink()
        build(f"V{top}", "-fprofile-use", "-fprofile-partial-training", "-Wno-missing-profile")
    else:
        build(f"V{top}")
    return [str(place / f"V{top}")]


def interpreted(chip: Chip) -> list[str]:
    """Command of a simulation by Icarus Verilog."""
    if shutil.which("iverilog") is None:
        raise PointsmanError("there is no Icarus Verilog (iverilog)")
    bench = (
        "module bench;\n    reg clk = 0, rst = 1;\n    integer cycle = 0;\n    wire ended;\n    wire [31:0] status;\n"
        "    soc soc (.clk(clk), .rst(rst), .ended(ended), .status(status), .tx());\n    always #5 clk = !clk;\n"
        "    always @(posedge clk) begin\n        cycle <= cycle + 1;\n"
        f"        rst <= cycle < {chip.images.shape.reset_cycles};\n"
        "        if (ended === 1 || cycle > 2000000) begin\n"
        f'            $display("cycles %0d", cycle - {chip.images.shape.reset_cycles});\n'
        '            $display("status %0d", ended === 1 ? status : 32\'hffffffff);\n            $finish;\n        end\n'
        "    end\nendmodule\n"
    )
    write_whole(chip.folder / "bench.v", bench)
    made = chip.folder / "bench.vvp"
    sources = [str(chip.folder / "bench.v"), *map(str, chip.sources)]
    _run(["iverilog", "-g2012", "-s", "bench", "-o", str(made), *sources], chip.folder)
    return ["vvp", "-n", str(made)]


def simulate_text(chip: Chip, command: Sequence[str]) -> str:
    """What a simulation prints. Its files are in the chip's folder."""
    return _run(command, chip.folder)


def simulate(chip: Chip, command: Sequence[str], *, words: bool = False) -> Outcome:
    """Run the whole chip until all nodes have ended."""
    began = os.times()
    text = simulate_text(chip, [*command, *(["10000000"] if len(command) == 1 else []), *(["+words"] if words else [])])
    ended = os.times()
    seconds = ended.children_user + ended.children_system - began.children_user - began.children_system
    output: dict[int, list[int]] = {node: [] for node in range(len(chip.images.nodes))}
    moved: dict[tuple[int, int], list[int]] = {}
    found = {"computed": 0, "cycles": 0, "status": -1}
    for line in text.splitlines():
        head, *numbers = line.split()
        if head == "out":
            output[int(numbers[0])].append(int(numbers[1]))
        elif head in ("read", "write"):
            node, register, word = map(int, numbers)
            moved.setdefault((node, register), []).append(word)
        elif head in found:
            found[head] = int(numbers[0])
        elif head == "trap":
            raise PointsmanError(f"the processor of node {numbers[0]} met an illegal instruction or address")
    return Outcome(output, moved, found["computed"], found["cycles"], found["status"], seconds)


def in_python(chip: Chip) -> Run:
    """The application in Python, on the model of the same routers with the same images, preloaded as well."""
    with Machine(chip.images.shape, chip.images.topology, engine="model", progress=False) as machine:
        return run_application(chip.images, chip.application, machine, preload=True, events=True)


def differences(chip: Chip, outcome: Outcome, python: Run) -> list[str]:
    """What is wrong: nothing, if all is right."""
    if outcome.status != 0:
        return [f"the nodes ended with status {outcome.status}" if outcome.status > 0 else "the nodes have not ended"]
    wrong = []
    expected: Any = chip.application
    events = python.record.events
    assert events is not None
    pipelines = chip.images.shape.pipelines
    for node in range(len(chip.images.nodes)):
        if outcome.application(node) != expected.expected(node):
            wrong.append(f"node {node} outputs {outcome.application(node)[:8]} …, not {expected.expected(node)[:8]} …")
    if outcome.words:
        there: dict[tuple[int, int], list[int]] = {}
        for event in events:
            there.setdefault((int(event["node"]), int(event["register"])), []).append(int(event["word"]))
        for node, register in sorted(there.keys() | outcome.words.keys()):
            ours, theirs = (moved.get((node, register), []) for moved in (outcome.words, there))
            if register >= pipelines and ours != theirs:
                wrong.append(f"node {node}: other words through register {register} than in Python")
            # The command register of pipeline 0 has the changes of phase among its words.
            if register == 0 and _changes(ours) != _changes(theirs):
                wrong.append(f"node {node}: other changes of phase than in Python")
    return wrong


def _changes(commands: Sequence[int]) -> list[int]:
    """Those of the commands of one word that change the phase."""
    return [command for command in commands if command & 7 == CommandKind.ADD_POINTER]


def table(outcome: Outcome, python: Run) -> str:
    """Cycles by category, mean over the nodes: measured on the RISC-V nodes, and of the thesis's processor."""
    nodes = len(outcome.output)
    ours = [sum(outcome.spent(node)[name] for node in outcome.output) / nodes for name in CATEGORIES]
    theirs = [float(python.record.cycles[:, k].mean()) for k in range(len(CATEGORIES))]
    lines = ["cycles, mean over the nodes  " + "".join(f"{name:>10}" for name in CATEGORIES) + "     total"]
    for name, row, total in (
        ("RISC-V nodes", ours, outcome.computed),
        ("a processor as in Python", theirs, python.record.total_cycles),
    ):
        lines.append(f"{name:<29}" + "".join(f"{value:>10,.0f}" for value in row) + f"{total:>10,}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", choices=["matmul", "halo"], help="program")
    parser.add_argument("--mesh", default="2x2", help="nodes (default 2x2)")
    parser.add_argument("--side", type=int, default=6, help="rows and columns of a node's block (default 6)")
    parser.add_argument("--folder", type=Path, default=Path("build/soc"), help="where everything is put")
    parser.add_argument("--simulator", choices=["verilator", "icarus"], default="verilator")
    parser.add_argument(
        "--profiled", action="store_true", help="Verilator: compile twice, to simulate some 5 %% faster"
    )
    options = parser.parse_args(arguments)
    try:
        chip = make(options.name, parse_size(options.mesh), options.side, (options.folder / options.name).resolve())
        command = verilated(chip, profiled=options.profiled) if options.simulator == "verilator" else interpreted(chip)
        quick = simulate(chip, command)
        outcome = simulate(chip, command, words=True)
        python = in_python(chip)
        wrong = differences(chip, outcome, python)
    except PointsmanError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for line in wrong:
        print(f"wrong: {line}", file=sys.stderr)
    if wrong:
        return 1
    print(f"{options.name} on {options.mesh} RISC-V nodes: {python.answer}; words and changes of phase as in Python")
    print(table(outcome, python))
    print(
        f"{quick.cycles:,} cycles simulated in {quick.seconds:.2f} s: {quick.cycles / quick.seconds / 1e6:.2f} million a second"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
