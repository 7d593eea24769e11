"""An application as the command runs it: what its methods give is checked, and what they raise names its file and line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import index
from pathlib import Path
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.foreign import foreign_code, said_by, shown

from .application import Application, Reference, WrongAnswer
from .clocks import Clocks
from .node import Node

SAME = Clocks()
"""Processors have the clock of the network."""


class GuardedApplication(Application):
    """Stands in for ``application``, of the file ``path``, wherever an application is run.

    Every method raises a `PointsmanError` (``check`` also a `WrongAnswer`), whatever the application's own method does;
    only what a coroutine of ``main`` raises is left to `application_errors`, so that no step of a node takes longer. ``clocks``
    say what a cycle of computing costs.
    """

    def __init__(self, application: Application, path: Path, clocks: Clocks = SAME) -> None:
        self.application = application
        self.path = path
        self.clocks = clocks
        self.foreseen = application.foreseen

    @cached_property
    def functions(self) -> Mapping[str, Callable[..., Any]]:  # type: ignore[override]
        """The application's functions that combine messages, by name."""
        with self._asking("functions"):
            functions = dict(self.application.functions)
            for name, function in functions.items():
                if not isinstance(name, str) or not callable(function):
                    raise self._wrong("functions", "a function for each name", {name: function})
            return functions

    def parameters(self) -> dict[str, int]:
        """Values for the program's parameters."""
        with self._asking("parameters"):
            given = self.application.parameters()
            if not isinstance(given, Mapping):
                raise self._wrong("parameters", "a mapping from names to whole numbers", given)
            values = dict(given)
            for name, value in values.items():
                if not isinstance(name, str) or not hasattr(type(value), "__index__"):
                    raise self._wrong("parameters", "whole numbers by their names", {name: value})
            return {name: index(value) for name, value in values.items()}

    def main(self, node: Node) -> Any:
        """The coroutine of a node."""
        if self.clocks.price != 1:
            node.price = self.clocks.price
        with self._asking("main"):
            made = self.application.main(node)
            if not inspect.isawaitable(made):
                raise self._wrong("main", "a coroutine", made, hint="async def main(self, node): ...")
            return made

    def check(self, results: Sequence[Any]) -> str:
        """The application's answer."""
        with self._asking("check"):
            try:
                answer = self.application.check(results)
            except WrongAnswer as error:
                wrong = error
            else:
                if not isinstance(answer, str):
                    raise self._wrong("check", "a text that says what was checked", answer)
                return answer
        raise WrongAnswer(said_by(wrong))

    def reference(self) -> Reference | None:
        """Published figures."""
        with self._asking("reference"):
            given = self.application.reference()
            if given is None:
                return None
            if not isinstance(given, Reference) or not all(
                isinstance(text, str) for text in (given.source, given.cycles_table, given.bandwidth_table)
            ):
                raise self._wrong("reference", "a Reference, or None", given)
            for figures in (given.categories, given.bandwidths):
                for name, value in dict(figures or {}).items():
                    if not isinstance(name, str) or not isinstance(value, int | float):
                        raise self._wrong("reference", "numbers by their names", {name: value})
            return given

    def _asking(self, what: str) -> Any:
        return foreign_code(self.path, "the application", doing=f"{type(self.application).__name__}.{what}")

    def _wrong(self, what: str, wanted: str, given: object, hint: str | None = None) -> PointsmanError:
        name = type(self.application).__name__
        return PointsmanError(f"{self.path}: {name}.{what} must give {wanted}, not {shown(given)}", hint=hint)
