"""C programs of nodes on the host, each a process, coupled with a simulated machine: their processor ports are pipes.

What a node's program does is written down on the reference machine, call by call, and becomes a C function; so the same
application runs in Python and in C. The driver says over the pipe what it wants of the port (``pipe_port.c``); here each wish
becomes a request of `pointsman.runtime.api.requests`, so the C program costs the simulated processor the cycles of its accesses
and waits alone.

``build`` compiles a program as a user would. ``build_many`` compiles many in one call of the compiler, with one driver, which is
kept for the next ones. Its sizes are those of the program that runs: what lies beyond them in its state is poisoned.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
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
LARGEST = ("BLOCKS", "PHASES", "ENTRIES", "OPERATORS", "OPERANDS", "PLACES", "LANES", "TEMPORARIES", "TEMPORARY_WORDS")
"""Sizes, and the number of `PM_LOCAL_WORDS`, of which a driver for several programs has the largest; all others must be equal."""
ENTERED = ("BLOCKS", "PHASES", "ENTRIES", "OPERATORS", "LANES", "TEMPORARIES")
"""Those that the driver's code names; there they are the program's own."""
LEAST = 64
"""Sizes that have fences are rounded up to a power of two from here on, so that a driver will do for other programs as well."""
DRIVER = ("pm.c", "many.c", "pipe_port.c")
"""What a driver for several programs is made of."""
DRIVER_HEADERS = ("pm.h", "pm_port.h", "pm_sizes.h", "sizes.h", "pipe_port.h")


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
    lines = ["#include <string.h>", f'#include "{name}.h"', '#include "pipe_port.h"', *_functions(images), ""]
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
        "void WEAK words_left(const pm_word *a, const pm_word *b, pm_word *out, uint32_t n);",
        "void WEAK words_right(const pm_word *a, const pm_word *b, pm_word *out, uint32_t n);",
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
            head = f"void WEAK {function}_{base}s(const {kind} *a, const {kind} *b, {kind} *out, uint32_t n)"
            lines.append(f"{head} {{ {bodies[function].replace('%s', kind)} }}")
        elif function in ("left_item", "right_item"):
            head = f"{kind} WEAK {function}_{base}({kind} a, {kind} b)"
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
    in_place = array and call.function == "func" and number % 2 == 1
    if gives:
        # What was there before must not be taken for what has been received.
        filled = "memcpy(got, sent, sizeof got);" if in_place else "memset(got, 0x5a, sizeof got);"
        lines += [f"    {kind} got[{items}];", f"    {filled}"]
    if not gives:
        lines.append(f"    {function}(cop, {'sent' if array else 'sent[0]'});")
    elif array:
        arguments = ["cop", *(["got" if in_place else "sent"] if sent else []), "got"]
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
    _compile(["-DPM_PRELOADED"] if preloaded else [], folder, [path.name for path in folder.glob("*.c")])
    return folder / "nodes"


@dataclass(frozen=True)
class Built:
    """A program to be compiled with others."""

    program: Program
    images: Images
    calls: Sequence[Sequence[Call]]
    ahead: bool = False
    preloaded: bool = False


def sizes_of(text: str) -> dict[str, str]:
    """What ``pm_sizes.h`` defines, by name without ``PM_``."""
    return dict(re.findall(r"^#define PM_(\w+) (.*?) /\*", text, re.MULTILINE))


def _local(sizes: Mapping[str, str]) -> int:
    return int(sizes["LOCAL_WORDS"].rpartition("*")[2].rstrip(")"))


def build_many(several: Sequence[Built], folder: Path, drivers: Path | None = None) -> list[tuple[Path, int]]:
    """Compile programs together. Gives the executable of each, and its number in it.

    Those that differ in nothing but the sizes named in `LARGEST` share a driver, an executable and a call of the compiler. Each
    node's tables stay arrays of their own, and are checked as such. Drivers are kept in folder ``drivers``, for other calls.
    """
    drivers = drivers or folder / "drivers"
    groups: dict[tuple[tuple[str, str], ...], list[tuple[int, dict[str, str], dict[str, str]]]] = {}
    for number, one in enumerate(several):
        texts = c_files(replace(one.images, name=f"program_{number}"))
        sizes = sizes_of(texts["pm_sizes.h"])
        same = {name: value for name, value in sizes.items() if name not in (*LARGEST, "LOCAL_WORDS")}
        key = (*same.items(), ("PRELOADED", str(one.preloaded)))
        groups.setdefault(key, []).append((number, texts, sizes))
    found: dict[int, tuple[Path, int]] = {}
    for k, (key, members) in enumerate(groups.items()):
        place = folder / f"group_{k}"
        place.mkdir(parents=True)
        executable = _build_group(several, dict(key), members, place, drivers)
        found.update({number: (executable, place_in) for place_in, (number, _, _) in enumerate(members)})
    return [found[number] for number in range(len(several))]


def _build_group(
    several: Sequence[Built],
    same: dict[str, str],
    members: Sequence[tuple[int, dict[str, str], dict[str, str]]],
    place: Path,
    drivers: Path,
) -> Path:
    preloaded = same.pop("PRELOADED") == "True"
    most = {name: str(_rounded(max(int(sizes[name]) for _, _, sizes in members))) for name in LARGEST}
    # Has no fence.
    most["OPERANDS"] = str(max(int(sizes["OPERANDS"]) for _, _, sizes in members))
    most["LOCAL_WORDS"] = f"(1 + PM_LOCAL * {_rounded(max(_local(sizes) for _, _, sizes in members))})"
    defined = "".join(f"#define PM_{name} {value}\n" for name, value in (same | most).items())
    (place / "pm_sizes.h").write_text(f"#ifndef PM_SIZES_H\n#define PM_SIZES_H\n{defined}#endif\n")
    fields = [name.lower() for name in (*LARGEST, "LOCAL")]
    runs, table = [], []
    for number, texts, sizes in members:
        one = several[number]
        name = f"program_{number}"
        (place / f"{name}.h").write_text(texts[f"{name}.h"])
        tables = [_apart(texts[f"{name}_node_{node}.c"], node) for node in range(one.program.topology.nodes)]
        text = c_program(one.program, replace(one.images, name=name), one.calls, ahead=one.ahead)
        # The sizes that are given are those of several programs.
        text = text.replace("PM_ENTRIES", sizes["ENTRIES"])
        head = f"#define run_node run_{number}\n"
        (place / f"{name}.c").write_text("\n".join([head, *tables, texts[f"{name}_nodes.c"], text]))
        runs.append(f"void run_{number}(struct pm *cop, int node);")
        values = [f".{field} = {sizes[field.upper()]}" for field in fields[:-1]]
        table.append(f"    {{{', '.join([f'.run = run_{number}', *values, f'.local = {_local(sizes)}'])}}},")
    (place / "sizes.h").write_text(
        "struct pm;\nstruct sizes { void (*run)(struct pm *, int); unsigned "
        f"{', '.join(fields)}; }};\nextern const struct sizes *sizes;\nvoid fence(struct pm *);\n"
    )
    lines = ['#include "sizes.h"', *runs, "extern const struct sizes programs[];"]
    (place / "programs.c").write_text("\n".join([*lines, "const struct sizes programs[] = {", *table, "};", ""]))
    driver = members[0][1]
    (place / "pm.h").write_text(driver["pm.h"])
    (place / "pm_port.h").write_text(driver["pm_port.h"])
    code = re.sub(rf"\bPM_({'|'.join(ENTERED)})\b", lambda found: f"sizes->{found[1].lower()}", driver["pm.c"])
    # An array of no lanes is none of C.
    code = code.replace("all[sizes->lanes]", "all[sizes->lanes + !sizes->lanes]")
    begun = "    cop->node = node;\n"
    assert code.count(begun) == 1
    (place / "pm.c").write_text('#include "sizes.h"\n' + code.replace(begun, begun + "    fence(cop);\n"))
    for name in ("pipe_port.c", "pipe_port.h", "many.c"):
        shutil.copy(HERE / name, place)
    # Sizes are constants of either sign in the driver as it is, and unsigned here.
    defined = [*(["-DPM_PRELOADED"] if preloaded else []), "-DMANY", "-Wno-sign-compare"]
    _compile(defined, place, [path.name for path in place.glob("program*.c")], _driver(defined, place, drivers))
    return place / "nodes"


def _rounded(size: int) -> int:
    return 1 << (max(size, LEAST) - 1).bit_length()


def _driver(defined: Sequence[str], place: Path, drivers: Path) -> list[str]:
    """Objects of the driver in ``place``, from folder ``drivers`` if they are there."""
    texts = [(place / name).read_text() for name in (*DRIVER, *DRIVER_HEADERS)]
    digest = hashlib.sha256("\0".join([*defined, *texts]).encode()).hexdigest()[:16]
    made = drivers / digest
    if not made.exists():
        made.mkdir(parents=True)
        for name in (*DRIVER, *DRIVER_HEADERS):
            shutil.copy(place / name, made)
        _gcc(["-c", *defined, *DRIVER], made)
    return [str(made / name.replace(".c", ".o")) for name in DRIVER]


def _apart(text: str, node: int) -> str:
    """A node's tables with names of their own, for one file of all nodes."""
    return re.sub(r"\b(?!program_)([a-z]+(?:_[a-z]+)*_[0-9]+)\b(?!\")", rf"\1_of_{node}", text)


def _compile(defined: Sequence[str], folder: Path, sources: Sequence[str], objects: Sequence[str] = ()) -> None:
    _gcc([*defined, *sorted(sources), *objects, "-o", "nodes"], folder)


def _gcc(arguments: Sequence[str], folder: Path) -> None:
    command = ["gcc", *SANITIZERS, *WARNINGS, "-O0", "-DPM_PORT_EXTERN", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise CouplingError(done.stderr)


@dataclass
class Link:
    """The way to a node's C program."""

    read: Callable[[int], bytes]
    write: Callable[[bytes], Any]
    end: Callable[[], str]
    """Ends it, and gives what it said besides."""


def process_link(executable: Path, node: int) -> Link:
    """A process of its own, over pipes."""
    pipe = subprocess.PIPE
    process = subprocess.Popen([executable, str(node)], stdin=pipe, stdout=pipe, stderr=pipe)
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    assert stdin is not None
    assert stdout is not None
    assert stderr is not None

    def write(said: bytes) -> None:
        stdin.write(said)
        stdin.flush()

    def end() -> str:
        # Whoever has more to say has not ended yet; the pipe of one that has is at its end.
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.2)
        process.kill()
        said = stderr.read().decode()[-2000:]
        for one in (stdin, stdout, stderr):
            with suppress(OSError):
                one.close()
        process.wait()
        return said

    return Link(stdout.read, write, end)


class Server:
    """An executable of `build_many`, which makes a process of itself for each node of each program that is asked for."""

    def __init__(self, executable: Path) -> None:
        # Names of sockets must be short.
        self.place = tempfile.TemporaryDirectory(prefix="pm-")
        self.address = f"{self.place.name}/socket"
        self.errors = executable.with_name("errors")
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                [executable, self.address],
                stderr=errors,
                env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"},
            )
        while not Path(self.address).exists():
            if self.process.poll() is not None:
                raise CouplingError(f"ended: {self.errors.read_text()}")
            time.sleep(0.005)

    def link(self, number: int, node: int) -> Link:
        """The way to a node of a program."""
        there = socket.socket(socket.AF_UNIX)
        there.connect(self.address)
        there.sendall(struct.pack("=II", number, node))
        heard = there.makefile("rb")

        def end() -> str:
            heard.close()
            there.close()
            return self.errors.read_text()[-2000:]

        return Link(heard.read, there.sendall, end)

    def end(self) -> None:
        """End the executable."""
        self.process.kill()
        self.process.wait()
        self.place.cleanup()


@dataclass
class Coupled:
    """A node's C program, as a program of the simulated processor."""

    link: Callable[[int], Link]
    number: int
    machine: ProcessorMachine
    heard: dict[int, list[int]] = field(default_factory=dict)
    """Words received, by number of the call."""
    changes: int = 0

    def program(self) -> Generator[Any, None, None]:
        link = self.link(self.number)
        ended = False
        try:
            while True:
                said = link.read(12)
                if len(said) < 12:
                    ended = True
                    raise CouplingError(f"node {self.number} ended: {link.end()}")
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
                        self.heard[a] = list(struct.unpack(f"={b}I", link.read(4 * b)))
                        continue
                    case "E":
                        self.changes = a
                        return
                    case _:
                        ended = True
                        raise CouplingError(f"node {self.number}: error {a}, {link.end()}")
                link.write(struct.pack("=I", answer))
        finally:
            if not ended:
                link.end()


def run_coupled(
    link: Callable[[int], Link],
    program: Program,
    calls: Sequence[Sequence[Call]],
    machine: ProcessorMachine,
    max_cycles: int = 3_000_000,
) -> list[int]:
    """Run the C programs, to which ``link`` gives the way by node; gives the changes of phase of each node.

    Raises
    ------
    CouplingError
        If a node received other words than the calls have.
    """
    nodes = [Coupled(link, number, machine) for number in range(program.topology.nodes)]
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
