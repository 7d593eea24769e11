"""What compiling and running from Python give: values, NumPy arrays, tables, and a report for people."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pointsman.errors import PointsmanError

if TYPE_CHECKING:
    import numpy as np

    from pointsman.plan.plan import Plan
    from pointsman.report.show.document import Document
    from pointsman.runtime.active.trace import ActiveTrace

TABLES = ("nodes", "operators", "phases", "activities", "words")


@dataclass(frozen=True, eq=False)
class Compiled:
    """A program for hardware.

    Parameters
    ----------
    target : str
        "numesh", "tdm" or "packet".
    artifact : Images, ConnectionTables or PacketProgram
        What goes into the hardware.
    text : str
        How each operator is done, in which phase, for a reader.
    notes : tuple of str
        Likely mistakes in the program.
    """

    target: str
    artifact: Any
    text: str = field(repr=False)
    notes: tuple[str, ...] = ()
    plan: Plan | None = field(default=None, repr=False)
    """What images were made from."""

    def document(self) -> Document:
        """What ``pointsman show`` shows of it."""
        from .showing import document_of

        return document_of(self.artifact, plan=self.plan)

    def write_page(self, path: Path | str) -> None:
        """Write the page of ``pointsman show``."""
        from pointsman.report.show.page import write_page

        write_page(self.document(), Path(path))

    def show(self) -> None:
        """Show it: in a notebook the page of ``pointsman show``, elsewhere the phases as text."""
        from .showing import show_here

        show_here(self.text, self.document)

    def write(self, path: Path | str | None = None, *, readmemh: Path | str | None = None) -> list[str]:
        """Write the file that ``pointsman run --image`` and ``pointsman check`` read, and $readmemh files of every memory into
        the folder ``readmemh``. Gives a line for each thing written.

        Raises
        ------
        PointsmanError
            If it cannot be written.
        """
        from .targets.by_name import target_named

        given = {
            "output": None if path is None else Path(path),
            "readmemh": None if readmemh is None else Path(readmemh),
        }
        return list(target_named(self.target).write(self.artifact, given))

    def write_c(self, folder: Path | str) -> int:
        """Write the program as C into a folder, which is made if it is not there: a driver, tables of each node, the functions
        of the operators (docs/cop_in_c.md), and the image that the routers must have. Gives the number of files.

        Raises
        ------
        PointsmanError
            If they cannot be written, the target is not numesh, or the program needs what the driver cannot do.
        """
        from pointsman.artifacts.images.file import write_images
        from pointsman.files import write_whole
        from pointsman.targets.c.program import c_files
        from pointsman.targets.c.text import identifier

        if self.target != "numesh":
            raise PointsmanError(f"a program becomes C for target numesh, not for {self.target}")
        texts = c_files(self.artifact)
        place = Path(folder)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PointsmanError(f"{place}: the folder cannot be made: {error.strerror}") from None
        for name, text in texts.items():
            write_whole(place / name, text)
        write_images(self.artifact, place / f"{identifier(self.artifact.name)}.image")
        return len(texts) + 1

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


@dataclass(frozen=True, eq=False)
class Result:
    """A finished run.

    Parameters
    ----------
    values : dict
        Plain values, as ``pointsman run --json`` writes them.
    text : str
        The report that ``pointsman run`` prints.
    artifact : Images, ConnectionTables, PacketProgram or Program
        What ran.
    finished : Run, TdmRun, PacketRun or DryRun
        The run itself; ``finished.record`` has its arrays (not of a dry run).
    notes : tuple of str
        Likely mistakes in the program, and words that nobody read (dry runs).
    """

    values: Mapping[str, Any] = field(repr=False)
    text: str = field(repr=False)
    artifact: Any = field(repr=False)
    finished: Any = field(repr=False)
    notes: tuple[str, ...] = ()
    plan: Plan | None = field(default=None, repr=False)
    """What images were made from; None if they were not compiled for this run."""
    active: ActiveTrace | None = field(default=None, repr=False)
    """What active messages did, if there were some and the run was asked for its events."""

    def __repr__(self) -> str:
        return f"Result(correct={self.correct}, total_cycles={self.total_cycles:,}, answer={self.answer!r})"

    @property
    def correct(self) -> bool:
        """Is the answer right?"""
        return bool(self.values["correct"])

    @property
    def answer(self) -> str:
        """What the application checked, or the error."""
        return str(self.values["answer"])

    @property
    def total_cycles(self) -> int:
        """Cycles from the start to the end of the last node's program; of a dry run the cycles of computation."""
        return int(self.values["total_cycles" if "total_cycles" in self.values else "cycles_of_computation"])

    @property
    def returned(self) -> list[Any]:
        """What the main program of each node gave; None for a node that does not work."""
        return list(getattr(self.finished, "record", self.finished).results)

    @property
    def cycles(self) -> np.ndarray:
        """Cycles of each node by `pointsman.runtime.Category`; int64, nodes × categories."""
        return self._record().cycles

    def table(self, name: str) -> np.ndarray:
        """A table as a structured NumPy array, a record for each row.

        Parameters
        ----------
        name : str
            "nodes" (cycles by category, and words written and read), "operators", "phases", "activities" (what each node did
            from when to when) or "words" (each access of a processor; needs ``run(…, events=True)``).

        Raises
        ------
        PointsmanError
            If this run has no such table.
        """
        rows = self._rows(name)
        if not isinstance(rows, list):
            return rows
        return _structured(rows)

    def frame(self, name: str) -> Any:
        """A table as a DataFrame of pandas, which has to be installed. Otherwise as `table`."""
        try:
            import pandas
        except ImportError:
            raise PointsmanError("there is no pandas", hint="pip install pandas, or use Result.table") from None
        return pandas.DataFrame(self.table(name))

    def show(self) -> None:
        """Show the run: in a notebook the page of ``pointsman show``, elsewhere the report as text."""
        from .showing import show_here

        show_here(self.text, self.document if hasattr(self.finished, "record") else None)

    def _repr_html_(self) -> str:
        report = f"<pre>{html.escape(self.text)}</pre>"
        if not hasattr(self.finished, "record"):
            return report
        from pointsman.report.figures.cycles_plot import cycles_svg

        return cycles_svg(self.values) + report

    def document(self) -> Document:
        """What ``pointsman show`` shows of the run; with its words, if it was run with ``events=True``."""
        from pointsman.report.time_table import times_of

        from .showing import document_of
        from .targets.logp import LogpProgram

        if isinstance(self.artifact, LogpProgram):
            from pointsman.report.active.shown import logp_document

            document = logp_document(self.artifact.name, self.artifact.topology, self.values)
        else:
            time = times_of(self.values)
            # Where no time was foreseen, what the plan was chosen for says nothing.
            document = document_of(self.artifact, self.finished, None if time is None else self.plan, time=time)
        if self.active is not None:
            from pointsman.report.active.shown import add_active

            add_active(document, self.active, self.total_cycles)
        return document

    def write_page(self, path: Path | str) -> None:
        """Write the page of ``pointsman show``."""
        from pointsman.report.show.page import write_page

        write_page(self.document(), Path(path))

    def _record(self) -> Any:
        if not hasattr(self.finished, "record"):
            raise PointsmanError("a dry run has no cycles of nodes", hint="run it on a target")
        return self.finished.record

    def _rows(self, name: str) -> Any:
        if name == "nodes":
            record = self._record()
            names = list(self.values["categories"])
            return [
                {
                    "node": node,
                    **dict(zip(names, map(int, cycles), strict=True)),
                    "written": int(w),
                    "read_words": int(r),
                }
                for node, (cycles, (w, r)) in enumerate(zip(record.cycles, record.accesses, strict=True))
            ]
        if name in ("operators", "phases") and name in self.values:
            entries = self.values[name]
            named = entries.items() if isinstance(entries, Mapping) else ((one["name"], one) for one in entries)
            return [{"name": label, **dict(_flat(entry))} for label, entry in named]
        if name == "activities" and hasattr(self.finished, "spans"):
            return [
                {"node": one.node, "start": one.start, "end": one.end, "activity": one.activity, "phase": one.phase}
                | {"operator": one.operator or ""}
                | dict(zip(self.values["categories"], one.cycles, strict=True))
                for one in self.finished.spans
            ]
        if name == "words" and getattr(getattr(self.finished, "record", None), "events", None) is not None:
            return self.finished.record.events
        if name not in TABLES:
            raise PointsmanError(f"there is no table {name!r}", hint=f"known are {', '.join(TABLES)}")
        hint = "run it with events=True" if name == "words" else None
        raise PointsmanError(f"this run has no table of {name}", hint=hint)


def _flat(entry: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Plain values of an entry: cycles by category by the categories' names, those of other groups by both names ("bound_kind"),
    lists as text."""
    for key, value in entry.items():
        if isinstance(value, Mapping):
            yield from (value.items() if key == "cycles" else ((f"{key}_{name}", one) for name, one in value.items()))
        elif value is None and key in ("bound", "pace"):
            continue
        elif key != "name":
            yield key, ", ".join(map(str, value)) if isinstance(value, list) else value


def _structured(rows: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """Rows as a structured array: int64, float64 (NaN where there is none), or text."""
    import numpy as np

    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = []
    for name in names:
        values = [row.get(name) for row in rows]
        if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
            columns.append(np.array(values, np.int64))
        elif all(value is None or isinstance(value, int | float) for value in values):
            columns.append(np.array([np.nan if value is None else value for value in values], np.float64))
        else:
            columns.append(np.array(["" if value is None else str(value) for value in values]))
    made = np.zeros(len(rows), [(name, column.dtype) for name, column in zip(names, columns, strict=True)])
    for name, column in zip(names, columns, strict=True):
        made[name] = column
    return made
