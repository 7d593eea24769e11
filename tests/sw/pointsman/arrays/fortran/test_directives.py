"""HPF directives: what they give, and what is refused."""

from __future__ import annotations

import pytest

from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.fortran.directives import parts
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.tree.mapping import Aligned
from pointsman.arrays.tree.statements import ArrayProgram, Redistribute


def _read(declarations: str, body: str = "s = 1\n", **options: object) -> ArrayProgram:
    text = f"program p\nreal a(8), b(4,6), s\n!hpf$ processors q(2)\n{declarations}{body}end\n"
    return read_program(text, "p.f90", **options)  # type: ignore[arg-type]


def test_parts_of_a_list() -> None:
    assert parts("a(1,2), b ,c(d(1,2))") == ["a(1,2)", "b", "c(d(1,2))"]


def test_a_mapping() -> None:
    program = _read(
        "!HPF$ TEMPLATE t(0:20, n)\n!HPF$ ALIGN b(i,j) WITH t(2*j+1, i)\n!HPF$ DISTRIBUTE t(CYCLIC(3), *) ONTO q\n"
        "!HPF$ ALIGN (i) WITH t(i+2, 3) :: a\n!HPF$ INDEPENDENT\n",
        "!hpf$ redistribute t(block, *)\n",
        values={"n": 5},
        processors=[3],
    )
    assert program.templates["t"].bounds == ((0, 20), (1, 5))
    assert program.grid.shape == (3,)
    assert program.arrays["b"].alignment == (Aligned(1, 2, 1), Aligned(0, 1, 0))
    assert program.arrays["a"].alignment == (Aligned(0, 1, 2), Aligned(None, 1, 3))
    (change,) = program.body
    assert isinstance(change, Redistribute)
    assert [str(one) for one in change.spreads] == ["block", "*"]


def test_an_array_is_its_own_template() -> None:
    program = _read("!hpf$ distribute (block) onto q :: a\n")
    assert program.arrays["a"].template == "a"
    assert program.arrays["b"].template is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("frobnicate a", "there is no directive frobnicate a here"),
        ("align a(i) with t(i,*)", "would lie on all of a dimension"),
        ("align c(i) with a(i)", "declared otherwise, or not at all"),
        ("align a(i) with t(i)", "there is no template t"),
        ("align a(i), t", "an alignment is written"),
        ("distribute b(block,block)", "2 dimensions of b are distributed over a grid of 1"),
        ("distribute b(block)", "has 2 dimensions and is given 1"),
        ("distribute b(around,*)", "not around"),
        ("distribute b(cyclic(0),*)", "not cyclic(0)"),
        ("distribute a(block) onto r", "there are no processors r"),
        ("distribute z(block)", "neither a template nor an array"),
        ("template t(9)", "the template t is not distributed"),
        ("template t(n)", "n has no value here"),
        ("template t(9:1)", "empty along a dimension"),
        ("processors r(2)", "there is a grid of processors already, q"),
    ],
)
def test_what_is_refused(line: str, said: str) -> None:
    with pytest.raises(ArrayProgramError) as caught:
        _read(f"!hpf$ {line}\n")
    assert said in str(caught.value)
    assert "p.f90:4:" in str(caught.value) or "not distributed" in said


def test_elements_without_an_owner_are_refused() -> None:
    with pytest.raises(ArrayProgramError, match="elements would have no owner"):
        _read("!hpf$ template t(7)\n!hpf$ distribute t(block)\n!hpf$ align a(i) with t(i)\n")


def test_processors_must_be_named() -> None:
    with pytest.raises(ArrayProgramError, match="names no processors"):
        read_program("program p\nreal a\na = 1\nend\n", "p.f90")


def test_redistribution_of_what_is_shared_names_the_template() -> None:
    with pytest.raises(ArrayProgramError, match="shares its template"):
        _read(
            "!hpf$ template t(8)\n!hpf$ distribute t(block)\n!hpf$ align a(i) with t(i)\n!hpf$ align b(i,*) with t(i)\n",
            "!hpf$ redistribute a(cyclic)\n",
        )
