"""HPF directives: what they give, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.fortran.directives import parts
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.tree.mapping import Aligned
from pointsman.arrays.tree.statements import ArrayProgram, Redistribute


def _read(declarations: str, body: str = "s = 1\n", **options: object) -> ArrayProgram:
    grid = "" if "line(4)" in declarations else "!hpf$ processors q(2)\n"
    text = f"program p\nreal a(8), b(4,6), s\n{grid}{declarations}{body}end\n"
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
        ("frobnicate a", "without effect INDEPENDENT"),
        ("template t(4), s(3:2)", "the template s is empty along a dimension"),
        ("template, allocatable :: t(4)", "allocatable is no attribute of a template"),
        ("distribute b(*,block)\n!hpf$ distribute b(block,*)", "b is distributed on line"),
        ("distribute a(block)\n!hpf$ align b(i,j) with a(i)\n!hpf$ align b(i,j) with a(j)", "b is aligned on line"),
        (
            "distribute a(block)\n!hpf$ align b(i,j) with a(i)\n!hpf$ distribute b(block,*)",
            "b is aligned with a on line",
        ),
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
        ("processors r(2)", "there is a grid of 1 dimensions already, (2,)"),
        ("processors r(2,2)", "a grid of 4 processors beside one of 2"),
        ("processors q(2)", "there are processors q already"),
        ("processors r(3,0)", "at least one along each dimension"),
        ("distribute b(block,block) onto q", "2 dimensions of b are distributed over q, which has 1"),
    ],
)
def test_what_is_refused(line: str, said: str) -> None:
    with pytest.raises(ArrayProgramError) as caught:
        _read(f"!hpf$ {line}\n")
    assert said in str(caught.value)
    place = f"p.f90:{4 + line.count(chr(10))}:"
    assert place in str(caught.value) or "not distributed" in said


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


def test_grids_are_the_same_processors_in_other_shapes() -> None:
    """A template finds its grid by the number of its distributed dimensions."""
    program = _read(
        "!hpf$ processors line(4)\n!hpf$ processors square(2,2)\n!hpf$ template t(8,8)\n!hpf$ align b(i,j) with t(i,j)\n"
        "!hpf$ distribute t(block,block) onto square\n",
        "!hpf$ redistribute t(*,block) onto line\n",
        processors=[4],
    )
    assert [one.shape for one in program.grids] == [(4,), (2, 2)]
    template = program.templates["t"]
    assert template.on.shape == (2, 2)
    assert template.processor((1, 5)) == 1
    (change,) = program.body
    assert isinstance(change, Redistribute)
    moved = replace(template, spreads=change.spreads)
    assert moved.on.shape == (4,)
    assert moved.processor((5,)) == 2


def test_aligned_to_all_of_a_dimension() -> None:
    """Of one that is not distributed: to its first point. Of one that is, or may be later: everywhere, and that is said."""
    text = "!hpf$ template t(0:8,0:8)\n!hpf$ align a(i) with t(i,*)\n!hpf$ distribute t(block,*)\n"
    program = _read(text)
    assert program.arrays["a"].alignment == (Aligned(0, 1, 0), Aligned(None, 1, 0))
    assert program.remarks == ()
    for made in (
        _read(text.replace("block,*", "*,block")),
        _read(text, "!hpf$ redistribute t(*,block)\n"),
    ):
        assert made.arrays["a"].template is None
        assert "a lies on all of a dimension of t that is distributed" in made.remarks[0]


def test_redistributions_of_other_templates_say_nothing() -> None:
    text = "!hpf$ template t(8,8)\n!hpf$ align a(i) with t(i,*)\n!hpf$ distribute t(block,*)\n!hpf$ distribute b(block,*)\n"
    assert _read(text, "!hpf$ redistribute b(*,block)\n").arrays["a"].template == "t"


def test_colons_are_dimensions_in_their_order() -> None:
    """Each axis begins where its dimension begins; a name alone has all of them."""
    text = "!hpf$ template t(0:8,3:9)\n!hpf$ distribute t(block,*)\n"
    expected = (Aligned(0, 1, -1), Aligned(1, 1, 2))
    for line in ("align b(:,:) with t(:,:)", "align (:,:) with t(:,:) :: b", "align b with t", "align with t :: b"):
        assert _read(f"{text}!hpf$ {line}\n").arrays["b"].alignment == expected, line
    assert _read(f"{text}!hpf$ align b(:,*) with t(:,4)\n").arrays["b"].alignment == (
        Aligned(0, 1, -1),
        Aligned(None, 1, 4),
    )
    with pytest.raises(ArrayProgramError, match="b is aligned to 2 dimensions of u, which has 1"):
        _read(f"{text}!hpf$ template u(9)\n!hpf$ distribute u(block)\n!hpf$ align b with u\n")
    with pytest.raises(ArrayProgramError, match="b has 2 times : and t, with which it is aligned, has not"):
        _read(f"{text}!hpf$ align b(:,:) with t(:,*)\n")


@pytest.mark.parametrize("fixed", [False, True])
def test_directives_on_several_lines(fixed: bool) -> None:
    free = "!hpf$ align b(i,j) &\n!hpf$ & with t(i, &\n!HPF$ j)\n!hpf$ distribute t(block,*)\n"
    column_6 = "!hpf$ align b(i,j)\nchpf$1 with t(i,\n*HPF$2 j)\n!hpf$ distribute t(block,*)\n"
    text = f"      program p\n      real b(4,6)\n!hpf$ processors q(2)\n!hpf$ template t(9,9)\n{column_6 if fixed else free}"
    program = read_program(f"{text}      b(1,1) = 1\n      end\n", "p.f90", fixed=fixed)
    assert program.arrays["b"].alignment == (Aligned(0, 1, 0), Aligned(1, 1, 0))
    with pytest.raises(ArrayProgramError) as caught:
        read_program(f"{text}      c(1,1,1) = 1\n      end\n", "p.f90", fixed=fixed)
    assert str(caught.value).startswith("p.f90:9:")


def test_numbers_of_processors_that_only_a_run_knows() -> None:
    text = "program p\nreal a(8)\n!hpf$ processors q(number_of_processors())\n!hpf$ distribute a(block) onto q\na = 1\nend\n"
    assert read_program(text, "p.f90", processors=[4]).grid.shape == (4,)
    with pytest.raises(ArrayProgramError, match="the number of processors of q has no value here"):
        read_program(text, "p.f90")


def test_several_templates_and_grids_on_a_line() -> None:
    program = _read("!hpf$ template t(4), s(0:3)\n!hpf$ distribute t(block)\n!hpf$ distribute s(cyclic)\n")
    assert [template.bounds for template in program.templates.values()] == [((1, 4),), ((0, 3),)]
    text = (
        "program p\nreal, dimension(8, 8) :: a\n!hpf$ processors, dimension(4) :: q\n!hpf$ processors :: r(2, 2)\n"
        "!hpf$ template, dimension(8, 8) :: t\n!hpf$ align with t :: a\n!hpf$ distribute (block, cyclic) onto r :: t\n"
        "a(1, 1) = a(2, 2)\nend\n"
    )
    program = read_program(text, "p.f90")
    assert [grid.shape for grid in program.grids] == [(4,), (2, 2)]
    assert program.arrays["a"].template == "t"
