"""A sweep from its cases to its records: what is recorded is kept, the rest is run, and a failure does not stop the others."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.files import write_whole

from .cases import Record, SweptCase, read_record, record_path, run_case, write_record
from .executors import check_place, ended_cases, work_in
from .spec import Sweep

Tell = Callable[[str], None]


def run_sweep(sweep: Sweep, folder: Path, *, on: str = "pool", again: bool = False, tell: Tell = print) -> list[Record]:
    """Run the cases of a sweep that have no record yet.

    Parameters
    ----------
    sweep : Sweep
        What `spec.read_spec` gives.
    folder : Path
        Folder of the records; made if there is none. Workers of dask must see it, and the applications, under the same path.
    on : str
        Where the cases run, see `executors.ended_cases`.
    again : bool
        Run cases again that ended with an error.
    tell : function
        Called with a line for each case that has ended.

    Returns
    -------
    list of Record
        Of all cases, in the order of the file; also written to ``results.jsonl`` in the folder.

    Raises
    ------
    PointsmanError
        If the folder cannot be used, or another sweep is using it, or ``on`` is wrong.
    """
    check_place(on)
    folder = folder.resolve()
    with _alone_in(folder):
        records = {case: read_record(folder, case) for case in sweep.cases}
        for case, record in records.items():
            if record is not None and (record["status"] == "died" or (again and record["status"] == "error")):
                record_path(folder, case).unlink()
                records[case] = None
        waiting = [case for case, record in records.items() if record is None]
        count, known = len(sweep.cases), len(sweep.cases) - len(waiting)
        if known:
            tell(f"{known} of {count} cases are recorded already")
        for number, (case, ended) in enumerate(ended_cases(waiting, work_in(str(folder), run_case), on), known + 1):
            if isinstance(ended, BaseException):
                write_record(
                    folder, case, {"case": case.as_dict(), "status": "died", "error": str(ended), "seconds": 0.0}
                )
            record = _recorded(folder, case)
            tell(f"{number}/{count} {record['status']}: {case}{_of(record)}")
        found = [_recorded(folder, case) for case in sweep.cases]
        write_whole(folder / "results.jsonl", "".join(json.dumps(record) + "\n" for record in found))
        return found


def run_values(
    cases: Sequence[SweptCase], folder: Path, *, on: str = "pool:1", tell: Tell = print
) -> list[dict[str, Any]]:
    """Plain values of the runs of cases, all of which have to end; those that are recorded in the folder are not run again.

    Raises
    ------
    PointsmanError
        If a case ended with an error; the others are recorded.
    """
    records = run_sweep(Sweep(tuple(cases)), folder, on=on, again=True, tell=tell)
    for case, record in zip(cases, records, strict=True):
        if "values" not in record:
            raise PointsmanError(f"{case}: {record['error']}")
    return [record["values"] for record in records]


def _recorded(folder: Path, case: SweptCase) -> Record:
    record = read_record(folder, case)
    if record is None:
        raise PointsmanError(
            f"the worker of {case} wrote no record in {folder}", hint="workers must see this folder under the same path"
        )
    return record


def _of(record: Record) -> str:
    """What to say of a record in a line."""
    if "error" in record:
        lines = record["error"].strip().splitlines()
        return ": " + (lines[-1] if lines[0].startswith("Traceback") else lines[0])
    cycles = record["values"].get("total_cycles")
    return (f": {cycles:,} cycles" if cycles is not None else "") + f", {record['seconds']:.1f} s"


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Hold the folder, so that no second sweep runs the same cases."""
    try:
        (folder / "cases").mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise PointsmanError(
                    f"another sweep is running in {folder}", hint="wait for it, or take another -o"
                ) from None
            yield
    except OSError as error:
        raise PointsmanError(f"cannot use the folder {folder}: {error.strerror or error}") from None
