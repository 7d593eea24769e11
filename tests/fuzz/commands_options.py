"""Commands with their options, and the values that are given to these."""

from __future__ import annotations

from commands_values import LIMITS, MESHES, NUMBERS, PATHS, SETTINGS

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
COMMANDS = (
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
