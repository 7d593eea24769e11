"""Findings as they are collected and shown."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from pointsman.artifacts.images import Images
from pointsman.verify import report as report_module
from pointsman.verify.images import check_images
from pointsman.verify.report import RULES, Finding, Notebook

Judge = Callable[[str, str, Images], None]


def test_report_is_json_and_text(by_hand: ModuleType, mutations_by_hand: ModuleType) -> None:
    images = mutations_by_hand.with_promise(by_hand.stream_1x2(), 0, words=3)
    report = check_images(images)
    assert json.loads(json.dumps(report.as_dict()))["findings"] == [
        {
            "rule": "promises",
            "message": "stream s from 0: 2 words per period",
            "right": "3 words, as promised",
            "phase": "p",
            "node": 0,
            "pipeline": 0,
            "slot": None,
            "vfsm": 2,
            "operator": "s",
            "source": "byhand.cop:1:1",
            "values": [],
            "section": "§6.3.1",
        }
    ]
    assert report.render().splitlines()[:2] == [
        "promises: phase p, node 0, pipeline 0, VFSM 2, operator s (byhand.cop:1:1): "
        "stream s from 0: 2 words per period",
        "    right: 3 words, as promised (Metcalf 1997 §6.3.1)",
    ]
    assert "by hand: 1 finding\n  looked at: nodes 2, phases 1, operators 1," in report.render()
    assert check_images(by_hand.stream_1x2()).render().startswith("by hand: all rules hold\n  looked at: nodes 2,")


def test_many_findings_are_counted_beyond_those_kept(by_hand: ModuleType) -> None:
    images = by_hand.rows_and_columns(8, period=8)
    report = check_images(replace(images, promises=()))
    assert sum(finding.rule == "stray" for finding in report.findings) == 100
    assert report.more["stray"] > 300
    assert f"stray: {report.more['stray']} more findings" in report.render()


def finding(**place: Any) -> Finding:
    return Finding("links", "a message", "what is right", **place)


def test_findings_that_differ_in_values_only_are_one() -> None:
    notebook = Notebook()
    for number in range(7):
        notebook.add(finding(node=1, values=(f"value {number}",)))
    notebook.add(finding(node=2))
    first, second = notebook.report("test", {}).findings
    assert (first.node, first.values) == (1, ("value 0", "value 1", "value 2", "value 3", "…"))
    assert (second.node, second.values) == (2, ())


def test_findings_come_in_the_order_of_the_rules(by_hand: ModuleType) -> None:
    notebook = Notebook()
    (operator,) = by_hand.stream_1x2().operators
    notebook.note("passages", "later", "right")
    notebook.note("links", "first", "right", operator, node=0)
    report = notebook.report("test", {})
    assert report.rules == ("links", "passages")
    assert report.findings[0].place == "node 0, operator s (byhand.cop:1:1)"


def test_a_finding_of_a_vfsm_names_whose_it_is() -> None:
    notebook = Notebook()
    notebook.add(finding(phase="p", node=1, pipeline=0, vfsm=3))
    (named,) = notebook.report("test", {("p", 1, 0, 3): ("s", "a.cop:2:1")}).findings
    assert (named.operator, named.source) == ("s", "a.cop:2:1")


def test_what_is_left_out_is_said_once() -> None:
    notebook = Notebook()
    for _ in range(2):
        notebook.leave_out("the rest")
    assert notebook.report("test", {}).unchecked == ("the rest",)


def test_every_rule_is_noted_by_the_modules_that_it_names() -> None:
    """``Rule.proved_in`` against the rules that stand in the code of each module, but for those that help others."""
    room = Path(report_module.__file__).parent
    named: dict[str, set[str]] = {rule: set() for rule in RULES}
    for path in room.rglob("*.py"):
        module = ".".join(path.relative_to(room).with_suffix("").parts)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
        for text in (one.value for call in calls for one in call.args if isinstance(one, ast.Constant)):
            if isinstance(text, str) and text in RULES and module != "report":
                named[text].add(module)
    for rule, modules in named.items():
        proved = set(RULES[rule].proved_in)
        assert modules, rule
        assert modules <= proved, rule
        # Who can be ahead is told by skew; what is dropped is noted by a function of ends.
        assert proved - modules <= {"phases.skew", "phases.drain"}, rule
        assert all((room / f"{module.replace('.', '/')}.py").exists() for module in proved), rule
