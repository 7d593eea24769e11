"""Hostile uses of the command: what a user, or somebody who means ill, may type and put into files.

A `Use` is a command line with the files around it. The kinds of use are functions of a random generator; what is right for each
is little: an error that says what is wrong, or an answer.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from pointsman.artifacts.container import IMAGE, pack_sections, unpack_sections
from pointsman.artifacts.tables.file import KIND as TABLES


@dataclass
class Use:
    """A command line, the files that it finds (by name; None: a folder), and what may come of it."""

    arguments: list[str]
    files: dict[str, bytes | None] = field(default_factory=dict)
    fifos: list[str] = field(default_factory=list)
    closed: dict[str, int] = field(default_factory=dict)
    """Permissions of files and folders. The command then runs without the rights of the superuser."""
    environment: dict[str, str] = field(default_factory=dict)
    file_bytes: int | None = None
    """A disk with room for so many bytes in a file."""
    statuses: tuple[int, ...] = (0, 1, 2)
    output: str = "pipe"
    """Where standard output goes: "pipe", "full" (a full disk) or "closed"."""


NUMBERS = (
    *("-1", "0", "1", "3", "7", "99999999999999999999", "18446744073709551616", "-9223372036854775809", "4294967296"),
    *(
        "2147483648",
        "1e9",
        "nan",
        "inf",
        "-inf",
        "-0.0",
        "1e308",
        "1e-320",
        "0.5",
        "",
        " ",
        "x",
        "0x10",
        "1_000",
        "٣",
        "²",
        "1,5",
    ),
    *("\udcff", "9" * 5000, "--", "true", "None"),
)
MESHES = (
    *(
        "0x0",
        "0",
        "1",
        "4x",
        "x4",
        "x",
        "",
        "1x1x1x1",
        "99999x99999",
        "-1x2",
        "2X2",
        " 2x2",
        "٢x٢",
        "2x2x",
        "1e1x2",
        "2x2",
        "3x1",
    ),
    *("99999999999999999999x1", "2×2", "\udcffx2", "2x2 ", "0x5", "2x0x2", "4096x4096", "9" * 4400 + "x1"),
)
PATHS = (
    *(
        "",
        ".",
        "..",
        "/",
        "no/such/file",
        "nosuch",
        "/dev/null",
        "/dev/full",
        "/dev/zero",
        "folder",
        "~nosuchuser/x",
        "x" * 300,
    ),
    *(
        "\udcff.cop",
        "a\nb",
        "-",
        "folder/",
        "text",
        "empty",
        "/proc/self/mem",
        "fifo",
        "loop",
        "/root/" + "y" * 5000,
        "text/under",
    ),
)
SETTINGS = (
    "",
    "=",
    "a",
    "a=",
    "=1",
    "words=99999999999999999999",
    "words=-1",
    "words=0",
    "words=1.5",
    "words=x",
    "x=1",
    "\udcff=1",
    "words=" + "9" * 5000,
)
LIMITS = (
    "",
    "steps",
    "steps=0",
    "steps=1",
    "steps=-1",
    "steps=x",
    "depth=99999999999999999999",
    "sleps=1",
    "\udcff=1",
    "nodes=1",
    "=",
)

RAISED = (
    *(
        "Exception()",
        "ValueError('bad')",
        "BaseException('b')",
        "SystemExit(0)",
        "SystemExit()",
        "SystemExit(3)",
        "SystemExit('bye')",
    ),
    *(
        "GeneratorExit()",
        "StopIteration(3)",
        "StopAsyncIteration()",
        "MemoryError()",
        "RecursionError('deep')",
        "OSError(28, 'full')",
    ),
    *(
        "KeyError('k')",
        "asyncio.CancelledError()",
        "UnicodeEncodeError('utf-8', 'x', 0, 1, 'r')",
        "Evil()",
        "EvilBase()",
        "AssertionError()",
    ),
    *(
        "WrongAnswer('wrong')",
        "PointsmanError('mine', hint='h')",
        "PointsmanError(3)",
        "click.exceptions.Exit(0)",
        "click.Abort()",
    ),
    *(
        "click.UsageError('u')",
        "ExceptionGroup('g', [ValueError(1)])",
        "BaseExceptionGroup('g', [SystemExit(0)])",
        "ValueError('\\ud800')",
    ),
    *(
        "ValueError('x' * 100000)",
        "ValueError('a\\nb\\nTraceback')",
        "NotImplementedError",
        "BrokenPipeError(32, 'pipe')",
        "EOFError()",
    ),
    *(
        "argparse.ArgumentError(None, 'a')",
        "SyntaxError('s')",
        "UserWarning('w')",
        "concurrent.futures.process.BrokenProcessPool()",
    ),
)
VALUES = (
    *(
        "None",
        "3",
        "3.5",
        "float('nan')",
        "'text'",
        "b'bytes'",
        "[]",
        "[1]",
        "{}",
        "{'words': 'x'}",
        "{'words': 2.5}",
        "{3: 4}",
        "object()",
    ),
    *(
        "Evil()",
        "EvilBase()",
        "Strange()",
        "{'words': 10**30}",
        "{'words': -1}",
        "{'words': None}",
        "{'words': True}",
        "{'words': Strange()}",
    ),
    *(
        "(x for x in ())",
        "lambda *a: 1",
        "...",
        "int",
        "'\\ud800'",
        "'x' * 10**6",
        "np.zeros(3)",
        "np.zeros(4, object)",
        "{'nosuch': 1}",
    ),
    *(
        "np.float64('nan')",
        "10**400",
        "True",
        "iter([('words', 1)])",
        "{'words': np.int64(4)}",
        "{None: None}",
        "{'\\ud800': 1}",
    ),
    *("Forever()", "'a\\0b'", "set()", "NotImplemented"),
)
MESSAGES = (
    *VALUES,
    *(
        "np.zeros(4)",
        "np.zeros(4, complex)",
        "np.full(4, np.nan)",
        "np.full(4, 2**40 + 7)",
        "np.zeros(3, np.int16)",
        "np.array(['a'] * 4)",
    ),
    *(
        "np.zeros((2, 2), np.int32)",
        "np.zeros(4, np.int32)",
        "[1, 2, 3, 4]",
        "[1, 2, 3]",
        "['1', '2', '3', '4']",
        "np.zeros(0)",
        "[[1], [2, 3]]",
    ),
    *(
        "np.zeros(4, bool)",
        "np.zeros(10**7, np.int32)",
        "np.ma.masked_all(4)",
        "np.zeros(4, 'M8[s]')",
        "np.zeros(4, [('a', 'i4')])",
        "[2**31] * 4",
    ),
)
HEAD = """\
import argparse, asyncio, concurrent.futures.process, click
import numpy as np
from pointsman.cop import cshift
from pointsman.errors import PointsmanError
from pointsman.runtime import Application, WrongAnswer

class Evil(Exception):
    def __str__(self): raise ValueError("no text")
    __repr__ = __str__

class EvilBase(BaseException):
    def __str__(self): raise SystemExit(0)
    __repr__ = __str__

class Strange:
    def __getattr__(self, name): raise KeyError(name)
    def __iter__(self): raise SystemExit(0)
    def __index__(self): raise BaseException("index")
    def __len__(self): return -1
    def __bool__(self): raise GeneratorExit
    def __eq__(self, other): raise OSError("eq")
    __hash__ = None
    def __repr__(self): return 3
    def keys(self): return [self]

class Forever(dict):
    def __iter__(self): raise KeyboardInterrupt2
    def items(self): raise StopIteration

def give(x):
    if isinstance(x, BaseException) or (isinstance(x, type) and issubclass(x, BaseException)): raise x
    return x
"""
BODY = {
    "class": "",
    "program": 'program = "ring.cop"',
    "functions": "",
    "options": "@classmethod\n    def options(cls, parser):\n        parser.add_argument('--size', type=int, default=4)",
    "init": "",
    "parameters": "def parameters(self):\n        return {'words': 4}",
    "main": "async def main(self, node):\n        await node.cop.c_load()\n        return await node.cop.c_func(np.full(4, node.number, np.int32))",  # noqa: E501
    "check": "def check(self, results):\n        return f'{len(results)} results'",
    "reference": "",
}
PROGRAM = b"(parameter words 2)\n(cshift 'c 1 :m words)\n"
REDUCE = b"(parameter words 4)\n(allreduce 'c 'mine :m words)\n"
TARGETS = (("--dry",), ("--dry",), ("--dry",), ("--engine", "model"), ("--target", "tdm", "--engine", "model"))


def application(**parts: str) -> bytes:
    """The text of an application in which some parts stand in place of the ordinary ones."""
    before = parts.pop("before", "")
    after = parts.pop("after", "")
    kind = parts.pop("kind", "class Ring(Application):")
    body = "\n\n    ".join(text for text in {**BODY, **parts}.values() if text)
    return f"{HEAD}\n{before}\n{kind}\n    {body}\n{after}\n".encode("utf-8", "surrogatepass")


def _hook(rng: random.Random, what: str) -> tuple[str, str]:
    """A part of an application that gives, or raises, or takes, what it should not."""
    given = f"give({rng.choice(RAISED if rng.random() < 0.6 else VALUES)})"
    wrong = rng.choice(("self", "self, a, b, c", "self, *, k", "", "node"))
    heads = {
        "options": "@classmethod\n    def options(cls, parser):",
        "init": "def __init__(self, options, topology):",
        "parameters": "def parameters(self):",
        "main": "async def main(self, node):",
        "check": "def check(self, results):",
        "reference": "def reference(self):",
        "program": "def program(self, net, words: int = 3):",
    }
    if what == "functions":
        return what, f"functions = {rng.choice((given, '{3: 4}', '{chr(99): 3}', '{None: max}'))}"
    if what == "class":
        return what, rng.choice(
            (f"x = {given}", f"def __init_subclass__(cls): {given}", f"program = {given}", "__slots__ = ()")
        )
    if what == "program" and rng.random() < 0.5:
        return what, f"program = {rng.choice((*VALUES, *map(repr, PATHS), repr('x' * 300 + '.cop')))}"
    head = heads[what]
    if rng.random() < 0.15:
        name = head.split("def ")[1].split("(")[0]
        return what, rng.choice(
            (
                f"def {name}({wrong}): pass",
                f"{name} = {given}",
                f"{name} = property(lambda self: {given})",
                f"async def {name}({wrong}): pass",
                f"def {name}(*a): yield 1",
                f"{name} = None",
            )
        )
    first = "await node.cop.c_load(); " if what == "main" and rng.random() < 0.5 else ""
    return what, f"{head}\n        {first}return {given}"


def applications(rng: random.Random) -> Use:
    """An application with one or two parts of it wrong."""
    parts = dict(
        _hook(
            rng,
            rng.choice(
                ("options", "init", "parameters", "main", "main", "check", "reference", "program", "functions", "class")
            ),
        )
        for _ in range(rng.choice((1, 1, 1, 2)))
    )
    return _run(rng, application(**parts))


def imports(rng: random.Random) -> Use:
    """An application file that does not run, or has no application, or two."""
    raised = rng.choice(RAISED)
    text = rng.choice(
        (
            lambda: application(before=f"give({raised})"),
            lambda: application(before=f"def f(): give({raised})\nf()"),
            lambda: application(after=f"give({raised})"),
            lambda: application(after="class Other(Ring): pass"),
            lambda: application(after="del Ring"),
            lambda: application(kind="class Ring(Application, metaclass=type(give)):"),
            lambda: application(after="Ring.__module__ = None"),
            lambda: application(after="Ring = 3\nApplication = 4"),
            lambda: application(after="def f(): f()\nf()"),
            lambda: application(after="import sys; del sys.modules[__name__]"),
            lambda: application(after="import sys; sys.exit()"),
            lambda: application(main="pass"),
            lambda: b"",
            lambda: b"\0",
            lambda: b"\xff\xfe",
            lambda: b"# coding: nosuch\n",
            lambda: b"def f(:\n",
            lambda: b"\xef\xbb\xbf" + application(),
            lambda: b"(" * 1000,
            lambda: b"-" * 100_000 + b"1",
            lambda: b"x = " + b"9" * 5000,
            lambda: b"  x\n y",
            lambda: application() + b"\x1a",
            lambda: b"raise KeyboardInterrupt",
            lambda: b"class A:\n def __del__(self): raise ValueError\nA()",
            lambda: b"import nosuch",
            lambda: (
                b"from pointsman.runtime import Application\nclass A(Application):\n  async def main(self, n): pass"
            ),
        )
    )()
    use = _run(rng, text)
    use.statuses = (0, 1, 2, 130) if b"KeyboardInterrupt" in text else use.statuses
    return use


def calls(rng: random.Random) -> Use:
    """A main that calls its operator's functions wrongly."""
    message = rng.choice(MESSAGES)
    body = rng.choice(
        (
            f"await node.cop.c_load(); return await node.cop.c_func({message})",
            f"await node.cop.c_load({message}); return await node.cop.c_func(np.zeros(4, np.int32))",
            f"return await node.cop.c_func({message})",
            f"return await node.cop.{rng.choice(('c_fucn', 'c_write', 'c_read', 'd_func', '_x', 'init', 'fini', 'c_laod'))}()",
            "await node.cop.init()",
            "await node.cop.fini()",
            "await node.cop.fini(); await node.cop.fini()",
            f"await node.compute({rng.choice((*NUMBERS[:10], 'None', '2**70', '1.5', '1e400'))})",
            f"await {message}",
            "return node.cop.c_load()",
            f"return {message}",
            "await asyncio.sleep(0)",
            "await asyncio.sleep(1)",
            "await node.cop.c_load(); return [await node.cop.c_func(np.zeros(4, np.int32)) for _ in range(node.number + 1)]",
            "await node.cop.c_load()\n        if node.number: await node.cop.c_func(np.zeros(4, np.int32))",
            f"node.cop = {message}",
            f"node.number = {message}",
            f"node.activity = {message}; await node.cop.c_load(); return 1",
            "node.cop.__class__.__getattr__ = None; await node.cop.c_load()",
            f"return await asyncio.wait_for(node.cop.c_load(), {rng.choice(('1', 'None'))})",
        )
    )
    return _run(rng, application(main=f"async def main(self, node):\n        {body}"))


def combinations(rng: random.Random) -> Use:
    """A function of an all-reduce that does what it should not."""
    raised, value = rng.choice(RAISED), rng.choice(MESSAGES)
    mine = rng.choice(
        (
            f"lambda *a: give({raised})",
            f"lambda a: {value}",
            f"lambda a, b, out: {value}",
            "lambda a, b, out: out.resize(9)",
            value,
            "np.sin",
            "np.matmul",
            "np.divide",
            "lambda a, b, out: out.fill(np.nan)",
            "lambda a, b, out: out.__setitem__(slice(None), a / 0)",
            "lambda a, b, out: out.setflags(write=False)",
            "np.logaddexp",
            "np.equal",
        )
    )
    use = _run(rng, application(functions=f"functions = {{'mine': {mine}}}"))
    use.files["ring.cop"] = REDUCE
    return use


def _run(rng: random.Random, text: bytes) -> Use:
    name = "ring.py"
    if rng.random() < 0.12:
        name = rng.choice(
            (
                "r" * 250 + ".py",
                "a.b.c.py",
                " .py",
                "ri\nng.py",
                "\udcff.py",
                "ring",
                "ring.PY",
                "-x.py",
                "r" * 300 + ".py",
                "os.py",
                "é.py",
                "class.py",
                ".py",
            )
        )
    files: dict[str, bytes | None] = {"ring.cop": PROGRAM}
    if len(name) < 256:
        files[name] = text
    arguments = ["run", "--mesh", "2x1", *rng.choice(TARGETS)]
    if rng.random() < 0.3:
        arguments += ["--json", "out.json"]
    if rng.random() < 0.15:
        arguments += rng.choice(
            (["--size", rng.choice(NUMBERS)], ["--nosuch"], ["extra"], ["--size"], ["--", "x"], ["-x"], ["--siz=3"])
        )
    return Use([*arguments, *(["--"] if name.startswith("-") else []), name], files)


def options(rng: random.Random) -> Use:
    """A command with options of any value, on files that are right or of any sort."""
    use = Use([], _things())
    command, files, choices = rng.choice(_COMMANDS)
    use.arguments = [command]
    if rng.random() < 0.85:
        use.arguments += [name if rng.random() < 0.85 else rng.choice(PATHS) for name in files]
    given = dict(rng.sample(list(choices), min(len(choices), rng.choice((0, 1, 1, 2, 3)))))
    if command in ("compile", "explain", "run", "verilog") and "--mesh" not in given and rng.random() < 0.93:
        use.arguments += ["--mesh", "2x1"]
    for name, values in given.items():
        use.arguments.append(name)
        if values:
            use.arguments.append(rng.choice(values))
    if "--" in use.arguments and command == "run":
        use.arguments.remove("--")
    use.fifos = ["fifo"]
    return use


def files(rng: random.Random) -> Use:
    """A file of problems or results whose values are replaced by other things, or whose bytes are."""
    command, name, value = rng.choice(_FILES)
    if rng.random() < 0.75:
        text = json.dumps(_spoiled(rng, value, rng.randint(1, 2)), ensure_ascii=rng.random() < 0.7).encode(
            "utf-8", "surrogatepass"
        )
        if rng.random() < 0.1:
            text = text.replace(b'"', rng.choice((b"'", b'""', b"\\")), 1)
    else:
        text = bytearray(json.dumps(value).encode())
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(text))
            text[place : place + rng.choice((0, 1, 5))] = rng.choice(
                (b"\xff", b"\0", b"{", b"]", b"9" * 400, b"NaN", b"1e999", b"-1", b"[" * 3000, b"")
            )
        text = bytes(text)
    return Use(
        [argument.replace("FILE", name) for argument in command],
        {name: text, **{n: b for n, b in _things().items() if n != name}},
    )


def images(rng: random.Random) -> Use:
    """An image, or connection tables, of which bytes are changed."""
    name = rng.choice(("ring.image", "ring.tables"))
    data = bytearray(THINGS[name])
    if rng.random() < 0.2:
        _damage(rng, data)
    else:  # with the right checksums, so that readers look further
        kind = TABLES if name == "ring.tables" else IMAGE
        sections, digest = unpack_sections(bytes(data), file=None, name=lambda kind, index: "", kind=kind)
        changed = [bytearray(section.data) for section in sections]
        _damage(rng, rng.choice(changed))
        parts = [replace(section, data=bytes(now)) for section, now in zip(sections, changed, strict=True)]
        data = bytearray(pack_sections(parts, digest, kind=kind))
    use = rng.choice(
        (
            ["check", name],
            ["check", name, "--json", "out.json"],
            ["run", "ring.py", "--mesh", "2x1", "--image", name, "--engine", "model", "--max-cycles", "100000"],
            [
                "run",
                "ring.py",
                "--mesh",
                "2x1",
                "--image",
                name,
                "--target",
                "tdm",
                "--engine",
                "model",
                "--max-cycles",
                "100000",
            ],
            ["verilog", "numesh", "--mesh", "2x1", "--image", name, "-o", "out.v"],
        )
    )
    return Use(list(use), {**_things(), name: bytes(data)})


def surroundings(rng: random.Random) -> Use:
    """Nothing wrong with the use, but with the machine: rights, caches, disks, environment."""
    use = Use([], _things())
    use.arguments, made = rng.choice(
        (
            (["compile", "ring.cop", "--mesh", "2x1", "-o", "out.image"], "out.image"),
            (["compile", "ring.cop", "--mesh", "2x1", "--readmemh", "out"], "out"),
            (["compile", "ring.cop", "--mesh", "2x1", "--target", "tdm", "-o", "out.tables"], "out.tables"),
            (["compile", "ring.cop", "--mesh", "2x1", "--target", "packet", "-o", "out.json"], "out.json"),
            (["explain", "ring.cop", "--mesh", "2x1", "-o", "out.txt"], "out.txt"),
            (["explain", "ring.cop", "--mesh", "2x1"], ""),
            (["run", "ring.py", "--mesh", "2x1", "--dry", "--json", "out.json"], "out.json"),
            (["run", "ring.py", "--mesh", "2x1", "--engine", "model", "--json", "out.json"], "out.json"),
            (["run", "ring.py", "--mesh", "2x1", "--engine", "model", "--trace", "out.json"], "out.json"),
            (["run", "ring.py", "--mesh", "2x1", "--engine", "model", "--trace", "out.jsonl"], "out.jsonl"),
            (["route", "streams.json", "--json", "out.json"], "out.json"),
            (["configure", "connections.json", "--json", "out.json"], "out.json"),
            (["compare", "result.json", "result.json", "--json", "out.json"], "out.json"),
            (["check", "ring.image", "--json", "out.json"], "out.json"),
            (["fmt", "ring.cop"], ""),
            (["verilog", "tdm-switch", "--ports", "4", "-o", "out.v"], "out.v"),
            (["verilog", "numesh", "--mesh", "2x1", "-o", "out.v"], "out.v"),
        )
    )
    kind = rng.choice(("rights", "cache", "disk", "environment", "output"))
    if kind == "rights":
        closed = rng.choice(
            ("ring.cop", "ring.py", "streams.json", "connections.json", "ring.image", "result.json", ".", "folder")
        )
        use.closed = {
            closed: 0o555
            if closed == "." and rng.random() < 0.5
            else rng.choice((0, 0o311))
            if closed == "folder"
            else 0
            if closed != "."
            else 0o555
        }
        if closed == "folder":
            use.arguments = [
                f"folder/{argument}" if argument in (made, "ring.cop") else argument for argument in use.arguments
            ]
    elif kind == "cache":
        use.environment["POINTSMAN_CACHE"] = rng.choice(
            (
                "~nosuchuser/x",
                "/dev/null",
                "/dev/null/x",
                "",
                "x" * 300,
                "text",
                "/proc/nosuch",
                "folder/new",
                "\udcff",
                "a\nb",
                "~",
            )
        )
    elif kind == "disk":
        use.file_bytes = rng.choice((0, 1, 10, 100, 1000))
    elif kind == "environment":
        use.environment |= rng.choice(
            (
                {"HOME": ""},
                {"HOME": "/nosuch"},
                {"TMPDIR": "/nosuch"},
                {"LC_ALL": "C"},
                {"PYTHONIOENCODING": "ascii"},
                {"CXX": "/nosuch"},
                {"CXX": "'"},
                {"COLUMNS": "-1"},
                {"NO_COLOR": "1"},
                {"MPLBACKEND": "nosuch"},
                {"MPLCONFIGDIR": "/dev/null"},
            )
        )
    else:
        use.output = rng.choice(("full", "closed"))
    return use


def _spoiled(rng: random.Random, value: object, times: int) -> object:
    """``value`` with a few of its parts replaced, left out or doubled."""
    copy = json.loads(json.dumps(value))
    for _ in range(times):
        places = list(_places(copy))
        holder, key = rng.choice(places)
        how = rng.random()
        if how < 0.7:
            holder[key] = rng.choice(_STRANGE)
        elif how < 0.85:
            del holder[key]
            if not list(_places(copy)):
                return copy
        elif isinstance(holder, dict):
            holder[rng.choice(("nosuch", "\ud800", "", key + " "))] = holder.get(key)
        else:
            holder.insert(key, holder[key])
    return copy


def _places(value: object):  # type: ignore[no-untyped-def]
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


_STRANGE = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2**31,
        2**32,
        2**53 + 1,
        2**63,
        2**64,
        2**64 + 5,
        10**30,
        -(10**30),
        0.5,
        float("nan"),
        float("inf"),
        1e308,
        1e-320,
    ),
    *(
        "",
        "1",
        "12",
        "x",
        "\ud800",
        "\0",
        "nosuch",
        "9" * 1000,
        "²",
        [],
        [[]],
        [1],
        [0, 0],
        {},
        {"a": 1},
        [None],
        ["\udfff"],
        "mesh",
        "torus",
        4,
        7,
        -0.0,
        10**400,
    ),
)
STREAMS = {
    "topology": {"kind": "mesh", "size": [3, 2]},
    "shape": {"pipelines": 2, "vfsms": 32, "schedule_depth": 128, "registers": 16},
    "faults": {"nodes": [], "links": [[0, 3]]},
    "buffers": False,
    "streams": [
        {"source": 0, "destinations": [5], "weight": 1.0, "words": 1},
        {"source": 1, "destinations": [4, 2], "weight": 2.0},
    ],
}
CONNECTIONS = {"network": {"kind": "torus", "size": [4, 4]}, "routing": "xy", "connections": [[0, 1], [1, 5], [2, 3]]}
CHANNELS = {
    "network": {"kind": "torus", "size": [4]},
    "channels": 2,
    "connections": [[0, 1, 8], [0, 2, 8]],
    "phases": 1,
}
DEMAND = {"network": {"kind": "crossbar", "size": 3}, "demand": [[0, 1, 2.5], [1, 0, 3], [2, 2, 0]], "delta": 1}
THINGS: dict[str, bytes] = {"ring.cop": PROGRAM, "ring.py": application()}
"""Files that are right; `prepare` adds those that commands make."""


def _things() -> dict[str, bytes | None]:
    return {**THINGS, "text": b"some text\n", "empty": b"", "folder": None}


def prepare(make: Callable[[list[str], Path], None], folder: Path, *, warm: bool) -> None:
    """Have ``make`` run the commands that make the files of `THINGS`, in ``folder``; and others, to compile their kernels."""
    for name, data in THINGS.items():
        (folder / name).write_bytes(data)
    for arguments, name in (
        (["compile", "ring.cop", "--mesh", "2x1", "-o", "ring.image"], "ring.image"),
        (["compile", "ring.cop", "--mesh", "2x1", "--target", "tdm", "-o", "ring.tables"], "ring.tables"),
        (["run", "ring.py", "--mesh", "2x1", "--engine", "model", "--json", "result.json"], "result.json"),
    ):
        make(arguments, folder)
        THINGS[name] = (folder / name).read_bytes()
    for name, value in (("streams.json", STREAMS), ("connections.json", CONNECTIONS)):
        THINGS[name] = json.dumps(value).encode()
        (folder / name).write_bytes(THINGS[name])
    if warm:
        for arguments in (
            ["route", "streams.json"],
            ["route", "streams.json", "--router", "ideal"],
            ["configure", "connections.json"],
        ):
            make(arguments, folder)
    result = json.loads(THINGS["result.json"])
    _FILES.append((["compare", "FILE", "result.json"], "other.json", result))
    _FILES.append((["compare", "result.json", "FILE", "--json", "out.json"], "other.json", result))


def _damage(rng: random.Random, data: bytearray) -> None:
    for _ in range(rng.choice((1, 1, 2, 5))):
        if not data:
            return
        place = rng.randrange(len(data))
        how = rng.random()
        if how < 0.6:
            data[place] ^= 1 << rng.randrange(8)
        elif how < 0.8:
            data[place : place + 4] = rng.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f"))
        elif how < 0.9:
            data[place:place] = bytes(rng.choice((1, 4, 100)))
        else:
            del data[place : place + rng.choice((1, 4, 100))]


_COMMON = (
    ("--mesh", MESHES),
    ("--set", SETTINGS),
    ("--limit", LIMITS),
    ("--warnings", ("show", "error", "x", "")),
    ("--effort", NUMBERS),
    ("--phases", NUMBERS),
    ("--nosuch", ()),
)
_SIZES = tuple((f"--{name}", NUMBERS) for name in ("pipelines", "vfsms", "schedule-depth", "registers", "width"))
_PLAN = (
    ("--period", NUMBERS),
    ("--seed", NUMBERS),
    ("--addresses", NUMBERS),
    ("--implementations", PATHS),
    ("--target", ("tdm", "packet", "x", "")),
    *_SIZES,
)
_SWITCH = tuple((f"--{name}", NUMBERS) for name in ("ports", "slots", "slot-cycles", "sl-cycles"))
_COMMANDS = (
    (
        "compile",
        ["ring.cop"],
        (
            *_COMMON,
            *_PLAN,
            *_SWITCH,
            ("-o", PATHS),
            ("--readmemh", PATHS),
            ("--emit", ("program", "python", "plan", "routes", "images", "tables", "x")),
            ("--no-check", ()),
        ),
    ),
    (
        "compile",
        ["ring.cop"],
        (
            *_COMMON,
            *_PLAN,
            ("-o", PATHS),
            ("--readmemh", PATHS),
            ("--emit", ("program", "python", "plan", "routes", "images", "tables", "x")),
        ),
    ),
    ("explain", ["ring.cop"], (*_COMMON, ("-o", PATHS), ("--json", ()), ("--decision", ()))),
    (
        "run",
        ["ring.py", "--dry"],
        (
            *_COMMON[2:],
            *_PLAN,
            ("--trace", PATHS),
            ("--wave", PATHS),
            ("--json", PATHS),
            ("--monitors", ()),
            ("--preload", ()),
            ("--max-cycles", NUMBERS),
            ("--image", PATHS),
        ),
    ),
    (
        "run",
        ["ring.py", "--engine", "model"],
        (
            *_COMMON[2:],
            *_PLAN[:3],
            *_SIZES,
            ("--trace", PATHS),
            ("--wave", PATHS),
            ("--json", PATHS),
            ("--monitors", ()),
            ("--preload", ()),
            ("--max-cycles", NUMBERS),
            ("--image", PATHS),
            ("--wave-window", NUMBERS),
        ),
    ),
    ("check", ["ring.image"], (("--json", PATHS), ("--nosuch", ()))),
    ("check", ["ring.tables"], (("--json", PATHS), ("--nosuch", ()))),
    ("compare", ["result.json", "result.json"], (("--json", PATHS),)),
    (
        "configure",
        ["connections.json"],
        (
            ("--json", PATHS),
            ("--algorithm", ("best", "greedy", "koenig", "x", "", "\udcff", "pack")),
            ("--degree", NUMBERS),
            ("--seed", NUMBERS),
            ("--effort", NUMBERS),
        ),
    ),
    ("fmt", ["ring.cop"], (("--check", ()), ("--limit", LIMITS))),
    (
        "route",
        ["streams.json"],
        (
            ("--json", PATHS),
            ("--router", ("numesh", "ideal", "x")),
            ("--length", NUMBERS),
            ("--seed", NUMBERS),
            ("--effort", NUMBERS),
            ("--time", NUMBERS),
            ("--plot", (*PATHS, "out.png", "out.x")),
        ),
    ),
    (
        "verilog",
        ["tdm-switch", "-o", "out.v"],
        (
            ("-o", PATHS),
            *_SWITCH[1:],
            ("--ports", ("-1", "0", "3", "4", "99999999999999999999", "x")),
            ("--width", NUMBERS),
        ),
    ),
    ("verilog", ["numesh", "-o", "out.v"], (("-o", PATHS), ("--image", PATHS), *_SIZES)),
    (
        "verilog",
        ["packet-router", "-o", "out.v"],
        (
            ("-o", PATHS),
            *((f"--{n}", NUMBERS) for n in ("channels", "buffer", "addresses", "queue", "width")),
            ("--torus", ()),
            ("--routing", ("adaptive", "x")),
        ),
    ),
    ("synth", ["nosuch"], (("--speed", NUMBERS),)),
)
_FILES: list[tuple[list[str], str, object]] = [
    (["route", "FILE", "--json", "out.json"], "streams.json", STREAMS),
    (["route", "FILE", "--router", "ideal", "--json", "out.json"], "streams.json", STREAMS),
    (["configure", "FILE", "--json", "out.json"], "connections.json", CONNECTIONS),
    (["configure", "FILE", "--json", "out.json"], "connections.json", DEMAND),
    (["channels", "FILE", "--json", "out.json"], "connections.json", CHANNELS),
]
KINDS: dict[Callable[[random.Random], Use], int] = {
    applications: 24,
    imports: 10,
    calls: 14,
    combinations: 5,
    options: 24,
    files: 12,
    images: 6,
    surroundings: 9,
}
"""Kinds of use, and how often of 100 each is taken."""


def make_use(rng: random.Random) -> tuple[str, Use]:
    """A use, and the name of its kind."""
    kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
    return kind.__name__, kind(rng)


def lay_out(use: Use, folder: Path) -> None:
    """Put the files of a use into an empty folder."""
    for name, data in use.files.items():
        path = os.path.join(folder, name)
        if data is None:
            os.mkdir(path)
        else:
            with open(path, "wb") as file:
                file.write(data)
    for name in use.fifos:
        os.mkfifo(os.path.join(folder, name))
    if "folder" in use.files:
        os.symlink("loop", os.path.join(folder, "loop"))
        with open(os.path.join(folder, "folder", "ring.cop"), "wb") as file:
            file.write(PROGRAM)
    for name, mode in use.closed.items():
        os.chmod(os.path.join(folder, name), mode)
