"""Barriers that are a broadcast of many words: too few are found (how many are enough: `tests/sim/cosim/test_barrier.py`)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images


@cache
def images(text: str) -> Images:
    return make_images(make_plan(compile_text(text, topology=mesh(3, 2)), NodeShape(), name="many words"))


def with_words(found: Images, words: int) -> Images:
    """The barrier by a message of so many words."""
    index = found.replaced[0].parts[0]
    operators = list(found.operators)
    program = operators[index].program
    assert program is not None
    operators[index] = replace(operators[index], m=words, program=replace(program, m=words))
    return replace(found, operators=tuple(operators))


BARRIER = "(loop 'l 2 (cshift 's 1 :m 3) (barrier 'b :impl 'repl_barrier_bcast) (broadcast 'c 0))"
ROWS = "(subset (make-1d 'x) (barrier 'b :impl 'repl_barrier_bcast))"


@pytest.mark.parametrize("text", [BARRIER, ROWS])
def test_nobody_gets_on_before_all_have_called(text: str) -> None:
    report = check_images(images(text))
    assert report.ok, report.render()
    assert report.counts["barriers by a broadcast"] == 1
    assert not report.unchecked


@pytest.mark.parametrize("text", [BARRIER, ROWS])
def test_too_few_words_find_room_on_the_way(text: str) -> None:
    findings = check_images(with_words(images(text), 4)).findings
    assert "it gets on before node 5 has called" in {one.message for one in findings if one.rule == "meaning"}


def test_rows_do_not_wait_for_each_other() -> None:
    findings = check_images(with_words(images(ROWS), 4)).findings
    assert {(one.node, int(one.message.split()[-3])) for one in findings if "before" in one.message} <= {
        (a, b) for row in ((0, 1, 2), (3, 4, 5)) for a in row for b in row
    }


def test_a_barrier_whose_work_nobody_does() -> None:
    found = images(ROWS)
    report = check_images(replace(found, replaced=(replace(found.replaced[0], parts=()),)))
    assert "meaning" in report.rules
