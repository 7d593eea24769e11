"""A case of a sweep: an application with all its options, run once; what came of it is a record in a file."""

from __future__ import annotations

import hashlib
import json
import threading
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pointsman
from pointsman.errors import PointsmanError
from pointsman.files import write_whole

PACKAGES = ("pointsman", "cosim", "numesh", "packet_router", "tdm_switch")
SOURCES = (".py", ".cop")
"""Endings of files beside an application that may change what it does."""
Record = dict[str, Any]
"""``case``: its options; ``status``: one of `STATUSES`; ``values``: as of ``pointsman run --json``, or ``error``: why there are
none; ``seconds``: wall time."""
STATUSES = ("right", "wrong", "error", "died")
"""The answer is right or wrong; the run ended with an error; the process ended without saying why."""
_ONE_AT_A_TIME = threading.Lock()
"""A worker of dask may have several threads; loaded applications and compiled kernels are for one at a time."""


@dataclass(frozen=True, eq=False)
class SweptCase(ABC):
    """What is run once; equal to itself only.

    ``application`` is the absolute path of a file; ``sources`` is a digest of what else the case reads.
    """

    application: str
    sources: str

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """What was asked for, as plain values."""

    @abstractmethod
    def values(self) -> tuple[bool, dict[str, Any]]:
        """Run it: whether the answer is right, and its values.

        Raises
        ------
        PointsmanError
            If it cannot be run.
        """

    @cached_property
    def key(self) -> str:
        """Name of the record: a digest of the case, its sources and Pointsman's own. 16 hexadecimal digits."""
        asked = [self.application, self.sources, self.as_dict(), own_digest()]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class Case(SweptCase):
    """An application on a network, with its own options (``arguments``) and those of `pointsman.run`.

    ``sources`` is a digest of what is written in the application and beside it (`digest_beside`).
    """

    network: str | None
    target: str | None
    dry: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The application by the name of its file."""
        named = {"network": self.network, "target": self.target, **({"dry": True} if self.dry else {})}
        given = {name: value for name, value in named.items() if value is not None}
        return {"application": Path(self.application).stem, **given, **self.options, "arguments": dict(self.arguments)}

    def values(self) -> tuple[bool, dict[str, Any]]:
        result = pointsman.run(
            self.application,
            self.network,
            target=self.target,
            arguments=self.arguments,
            dry=self.dry,
            **self.options,
        )
        return result.correct, dict(result.values)

    def __str__(self) -> str:
        given = self.as_dict()
        given.update(given.pop("arguments"))
        return " ".join(
            str(value) if name in ("application", "network", "target") else f"{name}={value}"
            for name, value in given.items()
        )


@cache
def own_digest() -> str:
    """Digest of Pointsman's own sources: if they change, results may."""
    found = hashlib.sha256(pointsman.__version__.encode())
    for name in PACKAGES:
        spec = find_spec(name)
        for folder in (spec and spec.submodule_search_locations) or ():
            for path in sorted(Path(folder).rglob("*.py")):
                found.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def digest_beside(application: Path) -> str:
    """Digest of an application's file and of the sources beside it: if they change, its cases are new cases.

    Raises
    ------
    PointsmanError
        If they cannot be read.
    """
    found = hashlib.sha256()
    try:
        for path in sorted({application, *(one for one in application.parent.iterdir() if one.suffix in SOURCES)}):
            found.update(path.name.encode() + b"\0" + path.read_bytes())
    except OSError as error:
        raise PointsmanError(f"cannot read the application {application}: {error.strerror or error}") from None
    return found.hexdigest()


def record_path(folder: Path, case: SweptCase) -> Path:
    """Where the record of a case is."""
    return folder / "cases" / f"{case.key}.json"


def read_record(folder: Path, case: SweptCase) -> Record | None:
    """The record of a case; None if there is none yet."""
    try:
        record = json.loads(record_path(folder, case).read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise PointsmanError(
            f"cannot read the record {record_path(folder, case)}: {error}", hint="remove it, and the case is run again"
        ) from None
    if not _is_record(record, case):
        raise PointsmanError(
            f"{record_path(folder, case)} is no record of {case}", hint="remove it, and the case is run again"
        )
    found: Record = record
    return found


def _is_record(record: Any, case: SweptCase) -> bool:
    # What is kept went through JSON, where a tuple becomes a list.
    if not isinstance(record, dict) or record.get("case") != json.loads(json.dumps(case.as_dict())):
        return False
    ended = isinstance(record.get("values"), dict) and record.get("status") in ("right", "wrong")
    failed = isinstance(record.get("error"), str) and record.get("status") in ("error", "died")
    return (ended or failed) and isinstance(record.get("seconds"), int | float)


def write_record(folder: Path, case: SweptCase, record: Record) -> None:
    """Write a record; it is there whole or not at all."""
    write_whole(record_path(folder, case), json.dumps(record) + "\n")


def run_case(folder: str, case: SweptCase) -> str:
    """Run a case and write its record, unless that is there; gives the record's status. Never raises for what a case does."""
    place = Path(folder)
    with _ONE_AT_A_TIME:
        record = read_record(place, case)
        if record is None:
            record = _run(case)
            write_record(place, case, record)
    return str(record["status"])


def _run(case: SweptCase) -> Record:
    started = time.perf_counter()
    record: Record = {"case": case.as_dict()}
    try:
        correct, values = case.values()
        record |= {"status": "right" if correct else "wrong", "values": values}
    except PointsmanError as error:
        record |= {"status": "error", "error": str(error)}
    except Exception:
        record |= {"status": "error", "error": traceback.format_exc()}
    return record | {"seconds": round(time.perf_counter() - started, 3)}
