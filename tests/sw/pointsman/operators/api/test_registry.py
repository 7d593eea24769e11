"""Implementations from outside: what is found, and what is said of those that cannot be used."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context, Implementation
from pointsman.operators.api.registry import Plugin, all_implementations, load_file
from pointsman.plan.make_plan import make_plan

GOOD = """
from pointsman.operators import Implementation, Metric, RoleDraft
from pointsman.operators.scheduled.stream import StrStream

class Mine(StrStream):
    name = "mine"
    kinds = ("stream",)
"""
HEAD = "from pointsman.operators import Implementation, Metric, RoleDraft, IMPLEMENTATIONS as THEIRS\n"
SKELETON = (
    HEAD
    + """
from pointsman.operators.scheduled.stream import StrStream
class Mine(StrStream):
    name = "mine"
    {body}
"""
)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "plugin.py"
    path.write_text(text)
    return path


def fault(path: Path) -> str:
    with pytest.raises(PointsmanError) as caught:
        all_implementations(IMPLEMENTATIONS, [path], entry_points=False)
    return caught.value.message


def test_a_file_adds_its_classes(tmp_path: Path) -> None:
    found = all_implementations(IMPLEMENTATIONS, [write(tmp_path, GOOD)], entry_points=False)
    assert found[: len(IMPLEMENTATIONS)] == IMPLEMENTATIONS
    assert [(one.name, one.kinds) for one in found[len(IMPLEMENTATIONS) :]] == [("mine", ("stream",))]


def test_a_file_may_list_what_it_offers_variants_included(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD + "\nIMPLEMENTATIONS = [Mine(), Mine]\n")
    assert [one.name for one in load_file(path)] == ["mine", "mine"]


def test_a_plan_uses_it_when_the_program_asks(tmp_path: Path) -> None:
    known = all_implementations(IMPLEMENTATIONS, [write(tmp_path, GOOD)], entry_points=False)
    program = compile_text("(stream 's 0 3 :m 40 :impl 'mine)", topology=mesh(2, 2))
    plan = make_plan(program, NodeShape(), name="x", period=8, implementations=known)
    assert plan.phases[0].operators[0].implementation.name == "mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "{path} has no implementations"),
        ("IMPLEMENTATIONS = ()\n", "{path} has no implementations"),
        ("def (:\n", "{path}:1: invalid syntax"),
        ("import sys\nsys.exit(3)\n", "{path}:2: SystemExit: 3"),
        ("\n1 / 0\n", "{path}:2: ZeroDivisionError: division by zero"),
        ("import no_such_module_at_all\n", "{path}:1: ModuleNotFoundError: No module named 'no_such_module_at_all'"),
        ("IMPLEMENTATIONS = 3\n", "{path}: 3 is not an implementation"),
        ("IMPLEMENTATIONS = [int]\n", "{path}: <class 'int'> is not an implementation"),
        (
            HEAD + "class A(Implementation):\n    name = 'a'\nIMPLEMENTATIONS = [A]\n",
            "{path}: A must define gen_io, metric, streams",
        ),
        (SKELETON.format(body="def __init__(self, x): pass"), "{path}: TypeError: Mine.__init__() missing"),
        (SKELETON.format(body="name = 'a-b'"), "{path}: Mine must have a name of letters, digits and _, not 'a-b'"),
        (SKELETON.format(body="name = None"), "{path}: Mine must have a name of letters, digits and _, not None"),
        (SKELETON.format(body="kinds = 'stream'"), "{path}: Mine must list the kinds of operators that it does, not"),
        (SKELETON.format(body="kinds = ('strem',)"), "{path}: Mine names 'strem', which is no kind of operator"),
        (SKELETON.format(body="kinds = (3,)"), "{path}: Mine names 3, which is no kind of operator"),
        (SKELETON.format(body="processor_bound = 1"), "{path}: processor_bound of Mine must be True or False"),
        (SKELETON.format(body="alone = None"), "{path}: alone of Mine must be True or False"),
        (
            SKELETON.format(body="loading = 'synchronised'"),
            "{path}: loading of Mine must be a Loading other than ONLINE, not 'synchronised'",
        ),
        (
            SKELETON.format(body="loading = {one.name: one for one in THEIRS}['dyn_bcast'].loading"),
            "{path}: loading of Mine must be a Loading other than ONLINE, not <Loading.ONLINE",
        ),
        (
            SKELETON.format(body="name = 'str_bcast'"),
            "{path}: there is an implementation 'str_bcast' already, from Pointsman",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    assert fault(path).startswith(message.format(path=path))


def test_two_files_may_not_offer_the_same_name(tmp_path: Path) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text(GOOD)
    other.write_text(GOOD)
    with pytest.raises(PointsmanError) as caught:
        all_implementations(IMPLEMENTATIONS, [one, other], entry_points=False)
    assert caught.value.message == f"{other}: there is an implementation 'mine' already, from {one}"
    assert caught.value.hint == "give it another name; :impl asks for it by that name"


def test_a_file_that_is_not_there_or_not_python(tmp_path: Path) -> None:
    assert fault(tmp_path / "none.py") == f"there is no file {tmp_path / 'none.py'}"
    assert fault(tmp_path) == f"there is no file {tmp_path}"
    other = tmp_path / "plugin.txt"
    other.write_text(GOOD)
    assert fault(other) == f"{other} is no Python file"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("def metric(self, operator, context): return 3", "mine.metric must give a Metric or None, not 3"),
        (
            "def metric(self, operator, context): return Metric(0, 1)",
            "mine.metric must give numbers that are not negative, and words_per_cycle above 0, not Metric(",
        ),
        ("def metric(self, operator, context): return Metric(float('nan'), 1)", "mine.metric must give numbers"),
        ("def metric(self, operator, context): return Metric('x', 1)", "mine.metric must give numbers"),
        ("def streams(self, operator, context): return None", "mine.streams must give a list of Stream, not None"),
        ("def streams(self, operator, context): return [1]", "mine.streams must give a list of Stream, not [1]"),
        (
            "def streams(self, operator, context): return 2 * super().streams(operator, context)",
            "mine.streams must give streams with names of their own from stream_name, not 's[0]'",
        ),
        ("def messages(self, operator): return 0", "mine.messages must give a number from 1 on, not 0"),
        ("def gen_io(self, *rest): return None", "mine.gen_io must give a RoleDraft, not None"),
        ("def gen_load(self, *rest): return [1]", "mine.gen_load must give a tuple of VfsmSetting, not [1]"),
        ("def decides(self, *rest): return 3", "mine.decides must give None, or something to hash and a mapping"),
        ("def decides(self, *rest): return [], {}", "mine.decides must give None, or something to hash and a mapping"),
        (
            "def decides(self, *rest): return 0, {0: []}",
            "mine.decides must give None, or something to hash and a mapping",
        ),
        ("def decides(self, *rest): return 0, [1]", "mine.decides must give None, or something to hash and a mapping"),
    ],
)
def test_what_an_implementation_gives_is_checked(tmp_path: Path, body: str, message: str) -> None:
    path = write(tmp_path, SKELETON.format(body=body))
    known = all_implementations((), [path], entry_points=False)
    program = compile_text("(stream 's 0 3 :m 40)", topology=mesh(2, 2))
    with pytest.raises(PointsmanError) as caught:
        make_plan(program, NodeShape(), name="x", period=8, implementations=known)
    assert caught.value.message.startswith(f"{path}: {message}")


@pytest.mark.parametrize("method", ["metric", "messages", "streams", "gen_io", "gen_load", "decides"])
def test_what_an_implementation_raises_is_laid_to_it(tmp_path: Path, method: str) -> None:
    path = write(tmp_path, SKELETON.format(body=f"def {method}(self, *rest): return {{}}['no']"))
    known = all_implementations((), [path], entry_points=False)
    program = compile_text("(stream 's 0 3 :m 40)", topology=mesh(2, 2))
    with pytest.raises(PointsmanError) as caught:
        make_plan(program, NodeShape(), name="x", period=8, implementations=known)
    assert caught.value.message == f"{path}:6: KeyError: 'no' (in mine.{method} for operator 's')"
    assert caught.value.hint == "this was raised by the implementation's code"


def test_everything_that_the_planner_may_ask_goes_to_the_implementation() -> None:
    asked = {name for name, value in vars(Implementation).items() if callable(value) and not name.startswith("_")}
    assert asked <= set(vars(Plugin))


def test_replacements_are_checked(tmp_path: Path) -> None:
    (plugin,) = load_file(write(tmp_path, SKELETON.format(body="def replace(self, *rest): return [1]")))
    program = compile_text("(stream 's 0 3)", topology=mesh(2, 2))
    (operator,) = program.operators()
    context = Context(program.topology, NodeShape())
    with pytest.raises(PointsmanError, match=r"mine\.replace must give a tuple of Operator or None, not \[1\]$"):
        plugin.replace(operator, context)
    (plugin,) = load_file(write(tmp_path, GOOD))
    assert plugin.replace(operator, context) is None


class Point:
    """Stands for an entry point that is installed."""

    name = "theirs"
    value = "their.module:Mine"

    def __init__(self, given: Any) -> None:
        self.given = given

    def load(self) -> Any:
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


def test_entry_points_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (plugin,) = load_file(write(tmp_path, GOOD))
    asked = []

    def entry_points(*, group: str) -> list[Point]:
        asked.append(group)
        return [Point(type(plugin.inner))]

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    found = all_implementations(())
    assert asked == ["pointsman.implementations"]
    assert [one.name for one in found] == ["mine"]
    assert isinstance(found[0], Plugin)
    assert found[0].origin == "entry point 'theirs' (their.module:Mine)"


def test_an_entry_point_that_does_not_load_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [Point(ImportError("gone"))])
    with pytest.raises(PointsmanError) as caught:
        all_implementations(())
    assert caught.value.message == "entry point 'theirs' (their.module:Mine): ImportError: gone"
