"""Values that somebody may type or pass by mistake, or on purpose; and a use of the command, which is made of them."""

from __future__ import annotations

from dataclasses import dataclass, field


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
