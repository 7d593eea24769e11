"""The file of a sweep: TOML, and the cases that it asks for.

    [[sweep]]                            # a product; there may be several
    application = "../matmul/matmul.py"  # from the folder of this file
    network = ["2x2", "4x4", "torus:4x4"]
    target = ["numesh", "packet"]
    arguments.size = [12, 24]            # the application's own options
    skip = [{ network = "2x2", target = "packet" }]

    [table]
    columns = ["total_cycles", "categories.read"]

    [plot]
    x = "network"
    y = "total_cycles"
    by = "target"
    take = "least"                       # of several values at the same place

A product over specifications of ``pointsman optical`` is another kind: ``optical`` has its form.

Every key of a product but ``skip`` may have one value or a list of values; options are those of `pointsman.run`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NoReturn

from pointsman.api.options import (
    RULES,
    TARGETS,
    network_from,
    problem_of,
    refuse_hardware_options,
    refuse_switch_options,
)
from pointsman.api.targets.by_name import target_named
from pointsman.artifacts.toml_file import parse_toml
from pointsman.cop.text.source import suggestion
from pointsman.errors import PointsmanError
from pointsman.files import read_text

from .cases import Case, SweptCase, digest_beside
from .optical import KEYS as OPTICAL_KEYS
from .optical import optical_cases

MOST_CASES = 100_000
OPTIONS = tuple(name for name in RULES if name not in ("in_c", "trace", "wave", "wave_window", "events"))
"""Options of `pointsman.run` that a product may have; the others are files, and for a single run."""
KEYS = ("application", "network", "target", "dry", "arguments", "skip", *OPTIONS)
PLOT_KEYS = ("x", "y", "by", "take")
TAKE = ("greatest", "least")


@dataclass(frozen=True)
class Sweep:
    """Cases in the order of the file, each once; columns of the table ((): chosen); and the plot's axes, if there is a plot."""

    cases: tuple[SweptCase, ...]
    columns: tuple[str, ...] = ()
    plot: Mapping[str, str] | None = None


def read_spec(path: Path) -> Sweep:
    """Read the file of a sweep.

    Raises
    ------
    PointsmanError
        With the file, the key, and the rule that is broken.
    """
    text = read_text(path, "sweep")
    try:
        plain = parse_toml(text)
    except PointsmanError as error:
        raise PointsmanError(f"{path}: {error.message}") from None
    return _Reader(path).sweep(plain)


class _Reader:
    """Reads the file ``path``; its errors name file and key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._digests: dict[Path, str] = {}

    def wrong(self, key: str, said: str, hint: str | None = None) -> NoReturn:
        raise PointsmanError(f"{self.path}: {key}: {said}", hint=hint)

    def sweep(self, plain: Mapping[str, Any]) -> Sweep:
        self._known("", plain, ("sweep", "table", "plot"))
        products = plain.get("sweep")
        if isinstance(products, dict):
            products = [products]
        if not isinstance(products, list) or not products or not all(isinstance(one, dict) for one in products):
            self.wrong("sweep", "there must be at least one table [[sweep]]", '[[sweep]] with application = "app.py"')
        cases: dict[str, SweptCase] = {}
        for number, one in enumerate(products):
            for case in self._product(f"sweep[{number}]", one):
                cases.setdefault(case.key, case)
        if not cases:
            self.wrong("sweep", "no case is left")
        return Sweep(tuple(cases.values()), self._columns(plain.get("table", {})), self._plot(plain.get("plot")))

    def _known(self, key: str, plain: object, names: Sequence[str]) -> None:
        if not isinstance(plain, dict):
            self.wrong(key, "must be a table")
        for name in plain:
            if name not in names:
                where = f"{key}.{name}" if key else name
                self.wrong(where, "there is no such key", suggestion(name, names) or f"known are {', '.join(names)}")

    def _product(self, key: str, plain: Mapping[str, Any]) -> Iterator[SweptCase]:
        if "optical" in plain:
            self._known(key, plain, OPTICAL_KEYS)
            yield from optical_cases(self.path, key, plain, self.wrong)
            return
        self._known(key, plain, KEYS)
        if "application" not in plain:
            self.wrong(f"{key}.application", "must name the file of an application, or there must be a table optical")
        arguments = plain.get("arguments", {})
        if not isinstance(arguments, dict):
            self.wrong(f"{key}.arguments", "must be a table of the application's own options")
        axes = {name: _values(value) for name, value in plain.items() if name not in ("arguments", "skip")}
        axes |= {f"arguments.{name}": _values(value) for name, value in arguments.items()}
        for name, values in axes.items():
            if not values:
                self.wrong(f"{key}.{name}", "a list must not be empty")
            for value in values:
                self._check(key, name, value)
        size = prod(map(len, axes.values()))
        if size > MOST_CASES:
            self.wrong(key, f"the product has {size:,} cases, more than {MOST_CASES:,}")
        skip = self._skip(key, plain.get("skip", []), axes)
        for combination in product(*axes.values()):
            point = dict(zip(axes, combination, strict=True))
            if not any(all(point[name] == value for name, value in one.items()) for one in skip):
                yield self._case(key, point)

    def _check(self, key: str, name: str, value: object) -> None:
        where = f"{key}.{name}"
        if name.startswith("arguments."):
            if not isinstance(value, str | int | float):
                self.wrong(where, f"must be text, a number, true or false, not {value!r}")
        elif name in ("application", "network"):
            if not isinstance(value, str) or not value:
                self.wrong(where, f"must be text, not {value!r}")
        elif name == "target":
            if value not in TARGETS:
                hint = suggestion(str(value), TARGETS)
                self.wrong(where, f"must be one of {', '.join(TARGETS)}, not {value!r}", hint)
        elif name == "dry":
            if not isinstance(value, bool):
                self.wrong(where, f"must be true or false, not {value!r}")
        else:
            problem = problem_of(name, value)
            if problem is not None:
                self.wrong(where, problem.message, problem.hint)

    def _skip(self, key: str, plain: object, axes: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
        where = f"{key}.skip"
        if not isinstance(plain, list) or not all(isinstance(one, dict) and one for one in plain):
            self.wrong(where, 'must be a list of tables, such as [{ target = "packet" }]')
        found = []
        for one in plain:
            flat = {name: value for name, value in one.items() if name != "arguments"}
            flat |= {f"arguments.{name}": value for name, value in one.get("arguments", {}).items()}
            for name, value in flat.items():
                if value not in axes.get(name, ()):
                    self.wrong(f"{where}.{name}", f"the product has no {name} {value!r}")
            found.append(flat)
        return found

    def _case(self, key: str, point: Mapping[str, Any]) -> Case:
        application = (self.path.parent / point["application"]).resolve()
        if application not in self._digests:
            if not application.is_file():
                self.wrong(f"{key}.application", f"there is no file {application}")
            self._digests[application] = digest_beside(application)
        options = {name: value for name, value in point.items() if name in OPTIONS}
        target, dry, network = point.get("target"), point.get("dry", False), point.get("network")
        try:
            network_from(network, target=target, ports=options.get("ports"))
            if dry:
                refuse_hardware_options(options)
            else:
                refuse_switch_options(options, target or TARGETS[0])
                target_named(target or TARGETS[0]).refuse(options)
        except PointsmanError as error:
            self.wrong(key, error.message, error.hint)
        arguments = {name.partition(".")[2]: value for name, value in point.items() if name.startswith("arguments.")}
        return Case(str(application), self._digests[application], network, target, dry, options, arguments)

    def _columns(self, plain: object) -> tuple[str, ...]:
        self._known("table", plain, ("columns",))
        assert isinstance(plain, dict)
        columns = plain.get("columns", [])
        if not isinstance(columns, list) or not all(isinstance(one, str) and one for one in columns):
            self.wrong("table.columns", 'must be a list of names, such as ["total_cycles"]')
        return tuple(columns)

    def _plot(self, plain: object) -> dict[str, str] | None:
        if plain is None:
            return None
        self._known("plot", plain, PLOT_KEYS)
        assert isinstance(plain, dict)
        for name in PLOT_KEYS:
            if name in ("x", "y") and name not in plain:
                self.wrong(f"plot.{name}", "must name a column")
            if name in plain and not (isinstance(plain[name], str) and plain[name]):
                self.wrong(f"plot.{name}", f"must be the name of a column, not {plain[name]!r}")
        if plain.get("take", TAKE[0]) not in TAKE:
            self.wrong("plot.take", f"must be one of {', '.join(TAKE)}, not {plain['take']!r}")
        return dict(plain)


def _values(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]
