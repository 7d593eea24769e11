"""Array programs from Python: what the builder refuses. What it makes is tested with the tree's meaning."""

from __future__ import annotations

import doctest
from collections.abc import Callable

import numpy as np
import pytest

from pointsman.arrays import building
from pointsman.arrays.building import ProgramBuilder, spread
from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.tree.meaning import run


def test_the_example() -> None:
    assert doctest.testmod(building).failed == 0


def _made(change: Callable[[ProgramBuilder], object]) -> None:
    build = ProgramBuilder("p", (2,))
    build.template("line", (8,), ("block",))
    change(build)
    build.program()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda build: build.template("t", (4, 4), ("block", "block")), "2 of them over the processors"),
        (lambda build: build.array("a", (8,), "nowhere"), "there is no template nowhere"),
        (lambda build: build.array("a", (9,), "line"), "elements would have no owner"),
        (lambda build: build.array("a", (4,), "line", [(0, 2, 2)]), "lies on 2:8"),
        (lambda build: build.array("a", (4,), "line", [(0, 0, 2)]), "scale 0"),
        (lambda build: build.array("a", (4, 4), "line"), "aligned to 2 dimensions"),
        (lambda build: build.array("a", (4,))[1, 2], "1 dimensions and is given 2 subscripts"),
        (lambda build: build.array("a", (4,))[::-1], "must be positive"),
        (lambda build: build.array("a", (4,))[1.5], "a subscript of a must be a whole number or an index, not 1.5"),
        (lambda build: build.array("a", (4,))[0:2.5], "a bound or step of a slice of a must be a whole number"),
        (lambda build: build.loop("i", 0, 2.5).__enter__(), "the stop of the loop over i must be a whole number"),
        (lambda build: build.array("a", (4,)).__setitem__(4, 1), "a subscript of a comes to 4, outside 0:3"),
        (lambda build: build.array("a", (4,)).__setitem__(-1, 1), "do not count from the end"),
        (lambda build: build.array("a", (4,)).__setitem__(slice(1, 6), 1), "a subscript of a comes to 5, outside 0:3"),
        (lambda build: build.otherwise().__enter__(), "right behind when"),
        (lambda build: build.loop("i", 0, 4, 0).__enter__(), "the step 0"),
        (lambda build: ProgramBuilder("p", (0,)), "at least one along each dimension"),
        (lambda build: spread("cyclic(0)"), "not cyclic"),
    ],
)
def test_what_is_refused(change: Callable[[ProgramBuilder], object], said: str) -> None:
    with pytest.raises(ArrayProgramError) as caught:
        _made(change)
    assert said in str(caught.value)


def test_names_are_used_once() -> None:
    build = ProgramBuilder("p", (2,))
    build.array("a", (4,))
    with pytest.raises(ArrayProgramError, match="already"):
        build.array("a", (4,))
    with build.loop("i", 0, 4), pytest.raises(ArrayProgramError, match="around this one"):
        with build.loop("i", 0, 4):
            pass


def test_an_index_is_a_number_in_an_expression() -> None:
    """Also with fractions: halves of indices were rounded before they were added."""
    build = ProgramBuilder("p", (2,))
    line = build.template("line", (8,), ("block",))
    a = build.array("a", (8,), line)
    with build.loop("i", 0, 7) as i:
        a[2 * i - i] = (i + 0.5) * i - 0.25 * (1 - i)
        with build.when(i > 3):
            a[i + 1] = -i / 2
    found = run(build.program(), {"a": np.zeros(8)})["a"]
    expected = np.zeros(8)
    for i in range(7):
        expected[i] = (i + 0.5) * i - 0.25 * (1 - i)
        if i > 3:
            expected[i + 1] = -i / 2
    assert found.tolist() == expected.tolist()
