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
        (lambda build: build.array("x-y", (4,)), "an array has a name of up to 40 ASCII letters, digits and _"),
        (lambda build: build.array("1a", (4,)), "does not begin with a digit, not '1a'"),
        (lambda build: bool(build.array("a", (4,))[0] > 1), "has a value only when the program runs"),
        (lambda build: max(build.array("a", (4,))[0], 1), "has a value only when the program runs"),
        (lambda build: 0 < building.Index(building.Affine.of("i")) < 3, "has a value only when the program runs"),
        (lambda build: sum(build.array("a", (4,))), "an array has elements only when the program runs"),
        (
            lambda build: build.array("a", (4,)).__setitem__(0, np.arange(4)),
            "a number, an index or an expression of elements",
        ),
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


def test_equality_powers_and_changes_in_place() -> None:
    build = ProgramBuilder("p", (2,))
    a, b = build.array("a", (5,)), build.array("b", (5,))
    with build.loop("i", 0, 5) as i:
        a[i] = 2**i
        with build.when(a[i] == 4):
            b[i] = a[i] ** 3
        with build.when(i != 2):
            b[i] = -1
    a += 1
    a *= 2
    a -= b
    a /= 2
    last = run(build.program(), {})
    expected = np.where(np.arange(5) == 2, 64, -1)
    assert last["b"].tolist() == expected.tolist()
    assert last["a"].tolist() == (((2 ** np.arange(5) + 1) * 2 - expected) / 2).tolist()
