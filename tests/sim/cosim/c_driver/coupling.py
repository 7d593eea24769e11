"""C programs of nodes on the host, each a process, coupled with a simulated machine: their processor ports are pipes.

What a node's program does is written down on the reference machine, call by call, and becomes a C function; so the same
application runs in Python and in C. The driver says over the pipe what it wants of the port (``pipe_port.c``); here each wish
becomes a request of `pointsman.runtime.api.requests`, so the C program costs the simulated processor the cycles of its accesses
and waits alone.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cosim.machine import ProcessorMachine
from pointsman.artifacts.images.images import Images
from pointsman.program.program import Operator, Program
from pointsman.runtime.api.requests import Attend, Category, Lane, Transfer, Wait, WaitEmpty, WaitUntil
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.c.functions import TYPES
from pointsman.targets.c.program import c_files
from pointsman.targets.c.text import identifier

HERE = Path(__file__).parent
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
WARNINGS = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")


class CouplingError(AssertionError):
    """A C program went wrong."""


@dataclass
class Call:
    """A call of a function by a node: load with its values, write, read or func with its message, or compute."""

    function: str
    label: str = ""
    values: tuple[Any, ...] = ()
    message: Any = None
    received: list[int] | None = None
    """Words, if it gave a message."""


@dataclass
class Recorder:
    """Writes down what an application's node does on the reference machine, which carries it out."""

    node: Any
    calls: list[Call] = field(default_factory=list)

    @property
    def cop(self) -> Recorder:
        return self

    @property
    def number(self) -> int:
        return int(self.node.number)

    async def compute(self, cycles: int) -> None:
        self.calls.append(Call("compute", values=(cycles,)))
        await self.node.compute(cycles)

    def __getattr__(self, name: str) -> Any:
        label, _, function = name.rpartition("_")

        async def called(*arguments: Any) -> Any:
            result = await getattr(self.node.cop, name)(*arguments)
            if function == "load":
                self.calls.append(Call(function, label, arguments))
            else:
                words = None if result is None else result
                self.calls.append(Call(function, label, (), arguments[0] if arguments else None, words))
            return result

        return called


def recorded(program: Program, main: Any, functions: Any = None) -> list[list[Call]]:
    """What each node does, and what it receives."""
    recorders: dict[int, Recorder] = {}

    async def record(node: Any) -> None:
        recorders[node.number] = Recorder(node)
        await main(recorders[node.number])

    ReferenceMachine(program, "recorded", functions or {}).run(record)
    return [recorders[node].calls if node in recorders else [] for node in range(program.topology.nodes)]


def as_words(message: Any, dtype: np.dtype[Any]) -> list[int]:
    found: list[int] = np.atleast_1d(np.asarray(message, dtype)).view(np.uint32).tolist()
    return found


def c_program(program: Program, images: Images, calls: Sequence[Sequence[Call]], *, ahead: bool = False) -> str:
    """The calls of all nodes as C; ``ahead``: what can be loaded before the first phase is."""
    name = identifier(images.name)
    operators: dict[str, Operator] = {one.label: one for one in program.operators()}
    lines = [f'#include "{name}.h"', '#include "pipe_port.h"', *_functions(images), ""]
    for node, several in enumerate(calls):
        lines += [f"static void node_{node}(struct pm *cop)", "{", f"    cop_init(cop, {name}_nodes[{node}], 0);"]
        if ahead:
            lines += ["    for (unsigned e = 0; e < PM_ENTRIES; e++)", "        if (cop->node->entries[e].count)"]
            lines += ["            pm_next_load(cop, e);"]
        for number, call in enumerate(several):
            lines += [f"    {line}" for line in _call(call, number, operators)]
        lines += ["    cop_fini(cop);", "}", ""]
    table = ", ".join(f"node_{node}" for node in range(len(calls)))
    lines += ["void run_node(struct pm *cop, int node)", "{"]
    lines += [f"    static void (*const all[])(struct pm *) = {{{table}}};", "    all[node](cop);", "}", ""]
    return "\n".join(lines)


def _functions(images: Images) -> list[str]:
    """Definitions of the functions of `walker.FUNCTIONS` that a program names, and of those that it gives to load functions."""
    lines = [
        "void words_left(const pm_word *a, const pm_word *b, pm_word *out, uint32_t n);",
        "void words_right(const pm_word *a, const pm_word *b, pm_word *out, uint32_t n);",
        "void words_left(const pm_word *a, const pm_word *b, pm_word *out, uint32_t n) { (void)b; while (n--) *out++ = *a++; }",
        "void words_right(const pm_word *a, const pm_word *b, pm_word *out, uint32_t n) { (void)a; while (n--) *out++ = *b++; }",
    ]
    copying = "uint32_t k; for (k = 0; k < n; k++) out[k] = ({})[k];"
    bodies = {
        "left": "(void)b; " + copying.format("a"),
        "right": "(void)a; " + copying.format("b"),
        "largest": "int second = b[0] > a[0]; " + copying.format("second ? b : a"),
        "matrices": (
            "uint32_t k, i; for (k = 0; k < n; k += 4) { long long p[4]; for (i = 0; i < 4; i++) {"
            " long long x = (long long)a[k + (i & 2)] % 251, y = (long long)a[k + (i & 2) + 1] % 251,"
            " v = (long long)b[k + (i & 1)] % 251, w = (long long)b[k + (i & 1) + 2] % 251;"
            " x += x < 0 ? 251 : 0; y += y < 0 ? 251 : 0; v += v < 0 ? 251 : 0; w += w < 0 ? 251 : 0;"
            " p[i] = (x * v + y * w) % 251; } for (i = 0; i < 4; i++) out[k + i] = (%s)p[i]; }"
        ),
    }
    for function, type_ in sorted({(one.function, one.type) for one in images.operators if one.function}):
        kind, base = TYPES[type_.rstrip("*")], type_.rstrip("*")
        if function in bodies:
            head = f"void {function}_{base}s(const {kind} *a, const {kind} *b, {kind} *out, uint32_t n)"
            lines.append(f"{head} {{ {bodies[function].replace('%s', kind)} }}")
        elif function in ("left_item", "right_item"):
            head = f"{kind} {function}_{base}({kind} a, {kind} b)"
            lines.append(f"{head} {{ (void)a; (void)b; return {'a' if function == 'left_item' else 'b'}; }}")
    return lines


def _call(call: Call, number: int, operators: dict[str, Operator]) -> list[str]:
    if call.function == "compute":
        return [f"compute({call.values[0]});"]
    function = f"{identifier(call.label)}_{call.function}"
    if call.label not in operators:
        return [f"{function}(cop);"]
    operator = operators[call.label]
    if call.function == "load":
        values = [_value(value, operator) for value in call.values]
        return [f"{function}({', '.join(['cop', *values])});"]
    if operator.kind == "barrier":
        return [f"{function}(cop);"]
    kind, array = TYPES[operator.type.name], operator.type.array
    items = operator.m // operator.type.words
    sent = [] if call.message is None else np.atleast_1d(np.asarray(call.message)).tolist()
    message = f"{{{', '.join(map(str, sent))}}}"
    lines = ["{"]
    if sent:
        lines.append(f"    static const {kind} sent[] = {message};")
    gives = call.function != "write"
    if gives:
        lines.append(f"    {kind} got[{items}] = {{0}};")
    if not gives:
        lines.append(f"    {function}(cop, {'sent' if array else 'sent[0]'});")
    elif array:
        arguments = ["cop", *(["sent"] if sent else []), "got"]
        lines.append(f"    if ({function}({', '.join(arguments)}))")
        lines.append(f"        heard({number}, got, {operator.m});")
    else:
        lines.append(f"    got[0] = {function}({', '.join(['cop', *(['sent[0]'] if sent else [])])});")
        heard = f"heard({number}, got, {operator.m})" if call.received is not None else "(void)got[0]"
        lines.append(f"    {heard};")
    return [*lines, "}"]


def _value(value: Any, operator: Operator) -> str:
    """An argument of a load function."""
    if value is None or isinstance(value, bool):
        return "PM_HERE" if value else "PM_UNKNOWN"
    if callable(value):
        names = {np.add: "add", np.maximum: "max", np.minimum: "min"}
        return f"pm_{names[value]}_{operator.type.name}" if value in names else f"words{value.__name__}"
    return str(value)


def build(
    program: Program,
    images: Images,
    calls: Sequence[Sequence[Call]],
    folder: Path,
    *,
    ahead: bool = False,
    preloaded: bool = False,
) -> Path:
    """Compile driver, tables and calls for the host, with its C compiler. ``preloaded``: for routers whose memories are full."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in c_files(images).items():
        (folder / name).write_text(text)
    for name in ("pipe_port.c", "pipe_port.h"):
        shutil.copy(HERE / name, folder)
    (folder / "calls.c").write_text(c_program(program, images, calls, ahead=ahead))
    sources = sorted(path.name for path in folder.glob("*.c"))
    defined = ["-DPM_PORT_EXTERN", *(["-DPM_PRELOADED"] if preloaded else [])]
    command = ["gcc", *SANITIZERS, *WARNINGS, "-O0", *defined, *sources, "-o", "nodes"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise CouplingError(done.stderr)
    return folder / "nodes"


@dataclass
class Coupled:
    """A node's C program, as a program of the simulated processor."""

    executable: Path
    number: int
    machine: ProcessorMachine
    heard: dict[int, list[int]] = field(default_factory=dict)
    """Words received, by number of the call."""
    changes: int = 0

    def program(self) -> Generator[Any, None, None]:
        process = subprocess.Popen(
            [self.executable, str(self.number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            while True:
                said = process.stdout.read(12)
                if len(said) < 12:
                    process.wait()
                    raise CouplingError(f"node {self.number} ended: {process.stderr.read().decode()[-2000:]}")
                what, a, b = struct.unpack("=III", said)
                answer = 0
                match chr(what):
                    case "F":
                        look = Attend(full=(a,), until=0)
                        yield look
                        answer = int(bool(look.calls[0]))
                        yield Wait(1, Category.CPU)
                    case "P":
                        yield Transfer(Lane(True, a, 1, np.array([b], np.uint32)))
                    case "G":
                        word = np.zeros(1, np.uint32)
                        yield Transfer(Lane(False, a, 1, word))
                        answer = int(word[0])
                    case "D":
                        yield WaitEmpty(a, Category.PSYNC)
                    case "T":
                        answer = self.machine.time
                    case "U":
                        yield WaitUntil(a, Category.PSYNC)
                    case "C":
                        yield Wait(a, Category.CPU)
                    case "H":
                        self.heard[a] = list(struct.unpack(f"={b}I", process.stdout.read(4 * b)))
                        continue
                    case "E":
                        self.changes = a
                        return
                    case _:
                        raise CouplingError(f"node {self.number}: error {a}")
                process.stdin.write(struct.pack("=I", answer))
                process.stdin.flush()
        finally:
            process.kill()
            for pipe in (process.stdin, process.stdout, process.stderr):
                pipe.close()
            process.wait()


def run_coupled(
    executable: Path,
    program: Program,
    calls: Sequence[Sequence[Call]],
    machine: ProcessorMachine,
    max_cycles: int = 3_000_000,
) -> list[int]:
    """Run the C programs; gives the changes of phase of each node.

    Raises
    ------
    CouplingError
        If a node received other words than the calls have.
    """
    nodes = [Coupled(executable, number, machine) for number in range(program.topology.nodes)]
    machine.run([one.program() for one in nodes], max_cycles=max_cycles)
    types = {one.label: np.dtype(one.type.name) for one in program.operators()}
    for one, several in zip(nodes, calls, strict=True):
        expected = {
            number: as_words(call.received, types[call.label])
            for number, call in enumerate(several)
            if call.received is not None
        }
        if one.heard != expected:
            wrong = next(n for n in range(len(several)) if one.heard.get(n) != expected.get(n))
            raise CouplingError(f"node {one.number}, {several[wrong]}: received {one.heard.get(wrong)}")
    return [one.changes for one in nodes]
