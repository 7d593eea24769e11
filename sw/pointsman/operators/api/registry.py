"""Implementations from outside: entry points ``pointsman.implementations``, and files (Metcalf 1997, §2.8 and A.7).

Each is wrapped in `Plugin`, which checks its answers and turns its exceptions into errors that name it.
The code of a plugin is trusted: it runs with the compiler's rights.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import re
import traceback
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any

from pointsman.cop.text.source import suggestion
from pointsman.errors import PointsmanError
from pointsman.files import is_file
from pointsman.foreign import run_file, shown, text_of
from pointsman.operators.api.loading import Loading
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream

from .implementation import Context, Implementation, Metric
from .roles import RoleDraft, VfsmSetting
from .wiring import Wiring

ENTRY_POINTS = "pointsman.implementations"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class Plugin(Implementation):
    """An implementation from ``origin`` (a file or an entry point) whose answers are checked."""

    def __init__(self, inner: Implementation, origin: str, path: Path | None = None) -> None:
        self.inner = inner
        self.origin = origin
        self.path = path
        self.name = inner.name
        self.kinds = inner.kinds
        self.processor_bound = inner.processor_bound
        self.traceable = inner.traceable
        self.alone = inner.alone
        self.in_order = inner.in_order
        self.played_only = inner.played_only
        self.loading = inner.loading

    def stages(self, operator: Operator) -> int:
        stages = self._ask("stages", operator)
        if not isinstance(stages, int) or stages < 1:
            raise self._wrong("stages", "a number from 1 on", stages)
        return stages

    def messages(self, operator: Operator) -> int:
        messages = self._ask("messages", operator)
        if not isinstance(messages, int) or messages < 1:
            raise self._wrong("messages", "a number from 1 on", messages)
        return messages

    def least_period(self, operator: Operator, context: Context) -> int:
        slots = self._ask("least_period", operator, context)
        if not isinstance(slots, int) or slots < 2:
            raise self._wrong("least_period", "slots from 2 on", slots)
        return slots

    def drain(self, operator: Operator, wiring: Wiring) -> int:
        cycles = self._ask("drain", operator, wiring)
        if not isinstance(cycles, int) or cycles < 0:
            raise self._wrong("drain", "cycles from 0 on", cycles)
        return cycles

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        metric = self._ask("metric", operator, context)
        if metric is None:
            return None
        if not isinstance(metric, Metric):
            raise self._wrong("metric", "a Metric or None", metric)
        numbers = (metric.words_per_cycle, metric.latency, metric.reload_words)
        if not all(isinstance(n, int | float) and isfinite(n) and n >= 0 for n in numbers) or numbers[0] <= 0:
            raise self._wrong("metric", "numbers that are not negative, and words_per_cycle above 0", metric)
        return metric

    def replace(self, operator: Operator, context: Context) -> tuple[Operator, ...] | None:
        operators = self._ask("replace", operator, context)
        if operators is None or (isinstance(operators, tuple) and all(isinstance(o, Operator) for o in operators)):
            return operators
        raise self._wrong("replace", "a tuple of Operator or None", operators)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = self._ask("streams", operator, context)
        if not isinstance(streams, list) or not all(isinstance(stream, Stream) for stream in streams):
            raise self._wrong("streams", "a list of Stream", streams)
        prefix = re.compile(re.escape(operator.label) + r"\[(\d+)\](\..*)?")
        names = set()
        for stream in streams:
            match = prefix.fullmatch(stream.name)
            if match is None or int(match[1]) >= len(operator.instances) or stream.name in names:
                raise self._wrong("streams", "streams with names of their own from stream_name", stream.name)
            names.add(stream.name)
        return streams

    def gen_router(self, operator: Operator, wiring: Wiring, node: int) -> tuple[VfsmSetting, ...]:
        return self._settings("gen_router", operator, wiring, node)

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        draft = self._ask("gen_io", operator, wiring, instance, node, values)
        if not isinstance(draft, RoleDraft):
            raise self._wrong("gen_io", "a RoleDraft", draft)
        return draft

    def decides(
        self, operator: Operator, wiring: Wiring, instance: int, values: tuple[int, ...]
    ) -> tuple[Hashable, Mapping[int, Hashable]] | None:
        told = self._ask("decides", operator, wiring, instance, values)
        try:
            of_all, of_node = (None, {}) if told is None else told
            hash((of_all, tuple(of_node.items())))
        except (TypeError, ValueError, AttributeError):
            raise self._wrong("decides", "None, or something to hash and a mapping of nodes to such", told) from None
        return None if told is None else (of_all, of_node)

    def gen_load(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> tuple[VfsmSetting, ...]:
        return self._settings("gen_load", operator, wiring, instance, node, values)

    def _settings(self, method: str, *arguments: Any) -> tuple[VfsmSetting, ...]:
        settings = self._ask(method, *arguments)
        if not isinstance(settings, tuple) or not all(isinstance(setting, VfsmSetting) for setting in settings):
            raise self._wrong(method, "a tuple of VfsmSetting", settings)
        return settings

    def _ask(self, method: str, operator: Operator, *arguments: Any) -> Any:
        with _blamed(self.origin, self.path, f"{self.name}.{method} for operator '{operator.label}'"):
            return getattr(self.inner, method)(operator, *arguments)

    def _wrong(self, method: str, wanted: str, given: object) -> PointsmanError:
        return PointsmanError(f"{self.origin}: {self.name}.{method} must give {wanted}, not {shown(given)}")


def all_implementations(
    builtin: Iterable[Implementation], files: Iterable[Path] = (), *, entry_points: bool = True
) -> tuple[Implementation, ...]:
    """The built-in implementations, then those of entry points, then those of ``files``.

    Raises
    ------
    PointsmanError
        If a file or an entry point cannot be used, or its implementation has a name that is already used.
    """
    known: dict[str, str] = {one.name: "Pointsman" for one in builtin}
    found: list[Implementation] = list(builtin)
    for plugins in (_entry_points() if entry_points else [], *map(load_file, files)):
        own: dict[str, str] = {}
        for plugin in plugins:
            if plugin.name in known:
                raise PointsmanError(
                    f"{plugin.origin}: there is an implementation '{plugin.name}' already, from {known[plugin.name]}",
                    hint="give it another name; :impl asks for it by that name",
                )
            own[plugin.name] = plugin.origin
            found.append(plugin)
        known |= own  # a file may have several variants of the same name
    return tuple(found)


def load_file(path: Path) -> list[Plugin]:
    """Implementations of a Python file: those in its ``IMPLEMENTATIONS``, else all `Implementation` classes that it defines.

    Raises
    ------
    PointsmanError
        If the file cannot be read, does not run, or has no usable implementation.
    """
    if not is_file(path):
        raise PointsmanError(f"there is no file {path}")
    with _blamed(str(path), path, None):
        module = run_file(path, f"pointsman_implementations_{path.stem}", "implementations are")
    return _take(_members(module, module.__name__), str(path), path)


def _members(module: ModuleType, name: str) -> object:
    listed = getattr(module, "IMPLEMENTATIONS", None)
    if listed is not None:
        return listed
    return [
        value
        for value in vars(module).values()
        if inspect.isclass(value)
        and issubclass(value, Implementation)
        and value.__module__ == name
        and not inspect.isabstract(value)
    ]


def _entry_points() -> list[Plugin]:
    found = []
    for point in sorted(importlib.metadata.entry_points(group=ENTRY_POINTS), key=lambda point: point.name):
        origin = f"entry point '{point.name}' ({point.value})"
        with _blamed(origin, None, None):
            given = point.load()
        if isinstance(given, ModuleType):
            given = _members(given, given.__name__)
        found += _take(given, origin, None)
    return found


def _take(given: object, origin: str, path: Path | None) -> list[Plugin]:
    """Plugins of ``given``: an `Implementation`, a class derived from it, or a list of these."""
    several = list(given) if isinstance(given, list | tuple) else [given]
    if not several:
        raise PointsmanError(
            f"{origin} has no implementations",
            hint="define a class derived from pointsman.operators.Implementation, or IMPLEMENTATIONS = (…)",
        )
    plugins = []
    for one in several:
        if inspect.isclass(one) and issubclass(one, Implementation):
            if inspect.isabstract(one):
                raise PointsmanError(
                    f"{origin}: {one.__name__} must define {', '.join(sorted(one.__abstractmethods__))}"
                )
            with _blamed(origin, path, f"{one.__name__}()"):
                one = one()
        if not isinstance(one, Implementation):
            raise PointsmanError(f"{origin}: {shown(one)} is not an implementation")
        plugins.append(Plugin(_checked(one, origin), origin, path))
    return plugins


def _checked(one: Implementation, origin: str) -> Implementation:
    """The implementation itself, if name, kinds, flags and loading are legal; otherwise a PointsmanError."""
    what = type(one).__name__
    name = getattr(one, "name", None)
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise PointsmanError(
            f"{origin}: {what} must have a name of letters, digits and _, not {shown(name)}", hint='name = "my_bcast"'
        )
    kinds = getattr(one, "kinds", None)
    if not isinstance(kinds, tuple) or not kinds:
        raise PointsmanError(
            f"{origin}: {what} must list the kinds of operators that it does, not {shown(kinds)}",
            hint='kinds = ("broadcast",)',
        )
    for kind in kinds:
        if kind not in OPERATORS:
            hint = suggestion(kind, OPERATORS) if isinstance(kind, str) else None
            raise PointsmanError(f"{origin}: {what} names {shown(kind)}, which is no kind of operator", hint=hint)
    for name in ("processor_bound", "traceable", "alone", "in_order", "played_only"):
        if not isinstance(getattr(one, name), bool):
            raise PointsmanError(f"{origin}: {name} of {what} must be True or False")
    if not isinstance(one.loading, Loading) or one.loading is Loading.ONLINE:
        raise PointsmanError(
            f"{origin}: loading of {what} must be a Loading other than ONLINE, not {shown(one.loading)}",
            hint="loading = Loading.SYNCHRONISED",
        )
    return one


@contextmanager
def _blamed(origin: str, path: Path | None, doing: str | None) -> Iterator[None]:
    """Turn an exception of a plugin's code into a PointsmanError that names its origin, and for a file the line."""
    try:
        yield
    except PointsmanError:
        raise
    except SyntaxError as error:
        if error.lineno is None:
            raise PointsmanError(f"{origin}: {text_of(error)}") from None
        raise PointsmanError(f"{error.filename or origin}:{error.lineno}: {error.msg}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        where = origin
        if path is not None:
            lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == path]
            where = f"{path}:{lines[-1]}" if lines else str(path)
        raise PointsmanError(
            f"{where}: {text_of(error)}" + (f" (in {doing})" if doing else ""),
            hint="this was raised by the implementation's code",
        ) from error
