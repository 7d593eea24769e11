"""A program of the Threaded Abstract Machine on any target; the command ``tam`` is this function."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pointsman.errors import PointsmanError
from pointsman.files import is_file

if TYPE_CHECKING:
    from pointsman.api.result import Result
    from pointsman.runtime.tam.application import TamApplication


FUNCTIONAL = ".fun"
"""Ending of files of functional programs."""


class TamResult(NamedTuple):
    """``values``: plain counts, as written to ``--json``. ``text``: the same for a reader. ``assembler``: what ran.
    ``result``: the run itself."""

    values: dict[str, Any]
    text: str
    correct: bool
    assembler: str
    result: Result


def run_tam(
    program: Path | str,
    arguments: Sequence[str | int | float] = (),
    nodes: int = 1,
    *,
    target: str = "logp",
    costs: Literal["cm5", "hybrid"] = "cm5",
    threads: Literal["operations", "partitions"] = "partitions",
    **options: Any,
) -> TamResult:
    """Assemble or compile a program, run it and count what it does.

    Parameters
    ----------
    program : path
        A file of TAM assembler text; with the ending ``.fun``, of a functional program.
    arguments : sequence of str, int or float
        Values for the first inlet of its code-block main.
    nodes : int
        Processors.
    target : str
        "logp", "numesh", "tdm" or "packet".
    costs : "cm5" or "hybrid"
        The processor whose cycles are counted.
    threads : "operations" or "partitions"
        How a functional program is compiled: a thread for each operation, or threads as large as they can be.
    options
        Of `pointsman.run`, such as ``engine``.

    Raises
    ------
    PointsmanError
        If the program or an argument is wrong.
    """
    from pointsman.api.running import run
    from pointsman.network import mesh
    from pointsman.runtime.tam import TamApplication, assemble, tam_figures
    from pointsman.runtime.tam.costs import Costs
    from pointsman.runtime.tam.functional import compile_functional

    path = Path(program)
    if not is_file(path):
        raise PointsmanError(f"there is no TAM program {path}")
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        raise PointsmanError(f"{path} is no text") from None
    name = str(path)
    if path.suffix == FUNCTIONAL:
        text = compile_functional(text, str(path), threads)
        name = f"{path}, in assembler"
    wide = max(side for side in range(1, int(nodes**0.5) + 1) if nodes % side == 0)
    application: TamApplication = TamApplication(
        assemble(text, name), [_value(one) for one in arguments], mesh(nodes // wide, wide), Costs(costs)
    )
    done = run(application, target=target, **options)
    figures = tam_figures(done.finished.record.results, application.costs)
    cycles = done.finished.record.total_cycles
    values = {"target": target, "nodes": nodes, "answer": done.values["answer"], "cycles_of_target": cycles, **figures}
    return TamResult(values, _text(path.stem, values), done.correct, text, done)


def _value(given: str | float) -> int | float:
    if not isinstance(given, str):
        return given
    for kind in (int, float):
        try:
            return kind(given)
        except ValueError:
            continue
    raise PointsmanError(f"an argument of a TAM program must be a number, not {given!r}")


def _text(name: str, values: dict[str, Any]) -> str:
    from pointsman.report.table import table

    kinds = ("alu", "messages", "heap", "control")
    rows = [
        ["instructions", *(f"{values['instructions'].get(one, 0):,}" for one in kinds)],
        [f"cycles ({values['machine']})", *(f"{values['cycles'].get(one, 0):,}" for one in kinds)],
    ]
    return "\n".join(
        [
            f"{name} on {values['nodes']} TAM processors, target {values['target']}",
            f"  {values['answer']}",
            "",
            table(["", *kinds], rows),
            "",
            f"{values['operands']:,} reads and writes of frames",
            f"{values['threads']:,} threads in {values['quanta']:,} quanta; {values['messages']:,} messages; "
            f"{values['cycles_of_target']:,} cycles on the target",
        ]
    )
