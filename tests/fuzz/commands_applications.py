"""Applications that do what none should: in what they define, import, call, return and raise."""

from __future__ import annotations

import random

from commands_values import MESSAGES, NUMBERS, PATHS, RAISED, VALUES, Use

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
