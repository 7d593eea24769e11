"""Hostile uses of the command: what a user, or somebody who means ill, may type and put into files.

A `Use` is a command line with the files around it. The kinds of use are functions of a random generator; what is right for each
is little: an error that says what is wrong, or an answer.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from commands_applications import PROGRAM, application, applications, calls, combinations, imports
from commands_options import COMMANDS
from commands_values import PATHS, Use

from pointsman.artifacts.container import IMAGE, pack_sections, unpack_sections
from pointsman.artifacts.tables.file import KIND as TABLES


def options(rng: random.Random) -> Use:
    """A command with options of any value, on files that are right or of any sort."""
    use = Use([], _things())
    command, files, choices = rng.choice(COMMANDS)
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
