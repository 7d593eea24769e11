"""Work of processors: every element is computed by its owner alone, once, and what is not there is missed."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.arrays.building import ProgramBuilder
from pointsman.arrays.execution.homes import Homes, first_distribution
from pointsman.arrays.execution.local import LocalWork, Memory, cycles_of
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.tree.meaning import run
from pointsman.arrays.tree.statements import ArrayProgram, Assign
from pointsman.errors import PointsmanError


def _program(body: str) -> ArrayProgram:
    head = (
        "program p\nreal, dimension(6,5) :: a, b\ninteger, dimension(6) :: at\nreal s\n!hpf$ processors q(2,2)\n"
        "!hpf$ template t(6,5)\n"
        "!hpf$ align (i,j) with t(i,j) :: a, b\n!hpf$ distribute t(cyclic,block)\n"
    )
    return read_program(head + body + "end\n", "p.f90")


BODIES = [
    "do i = 1, 6\n do j = 5, 1, -1\n  a(i,j) = b(i,j) * 2 + i\n end do\nend do\n",
    "do i = 1, 6\n do j = i, 5\n  if (b(i,j) > 1) then\n   a(i,j) = sqrt(b(i,j))\n"
    "  else\n   a(i,j) = -b(i,j)\n  end if\n end do\nend do\n",
    "do k = 1, 2\n s = k * 0.5\n do i = 1, 6\n"
    "  do j = 1, 5\n   a(i,j) = a(i,j) + s * b(i,j)\n  end do\n  s = s + i\n end do\nend do\n",
    "a = a + b\na(2:6:2, 1:3) = max(a(2:6:2, 1:3), 1.0)\n",
    "do i = 1, 6\n at(i) = 7 - i\nend do\ndo i = 1, 6\n a(at(i), 2) = i\nend do\n",
    "where (b > 1) a = 1 / b\n",
    "forall (i = 1:6, j = 1:5, b(i,j) > 1) a(i,j) = mod(i, j) + b(i,j) ** 2\n",
    "do i = 1, 0\n a(i,1) = 1\nend do\n",
]


@pytest.mark.parametrize("body", BODIES)
def test_owners_compute_what_the_program_means(body: str) -> None:
    program = _program(body)
    homes, state = Homes(program), first_distribution(program)
    first = {name: 0.5 + np.random.default_rng(3).random(array.shape) for name, array in program.arrays.items()}
    expected = run(program, first)
    work = LocalWork(homes)
    for processor in range(4):
        data = np.concatenate([first[name].reshape(-1) for name in program.arrays])
        memory = Memory(data, np.ones(homes.size, bool))
        memory.keep(homes.own(processor, state))
        for statement in program.body:
            work.work(statement, state)(memory.words, memory.truths, processor, {})
        own = homes.own(processor, state)
        assert np.array_equal(
            memory.data[own], np.concatenate([expected[name].reshape(-1) for name in program.arrays])[own]
        )
        assert np.isnan(memory.data[~own]).all()


def test_an_element_that_was_not_sent() -> None:
    program = _program("a(1,1) = b(6,5)\n")
    homes, state = Homes(program), first_distribution(program)
    memory = Memory(np.zeros(homes.size), np.ones(homes.size, bool))
    memory.keep(homes.own(0, state))
    with pytest.raises(PointsmanError, match=r"reads b\(6,5\), which it neither owns nor was sent"):
        LocalWork(homes).work(program.body[0], state)(memory.words, memory.truths, 0, {})


def test_cycles() -> None:
    program = _program("a(1,1) = b(1,1) * 2 + exp(b(1,1))\n")
    (statement,) = program.body
    assert isinstance(statement, Assign)
    assert cycles_of(statement.value) == 3 + 2 + 40
    state = first_distribution(program)
    work = LocalWork(Homes(program)).work(statement, state)
    memory = Memory(np.zeros(Homes(program).size), np.ones(Homes(program).size, bool))
    assert work(memory.words, memory.truths, 0, {}) == 45
    assert work(memory.words, memory.truths, 1, {}) == 0


def _nested(terms: int, left: bool) -> ArrayProgram:
    build = ProgramBuilder("long", (1,))
    line = build.template("line", (4,), ("block",))
    a, b = build.array("a", (4,), line), build.array("b", (4,), line)
    value = b[1] * 1.1
    for _ in range(terms):
        value = value - b[2] * 0.3 if left else b[2] - value
    a[0] = value
    return build.program()


def test_long_sums_are_summed_from_the_left() -> None:
    """More terms than Python nests parentheses, in the order in which the meaning adds them."""
    program = _nested(250, left=True)
    homes, state = Homes(program), first_distribution(program)
    first = {name: 0.5 + np.random.default_rng(3).random(array.shape) for name, array in program.arrays.items()}
    memory = Memory(np.concatenate([first[name] for name in program.arrays]), np.ones(homes.size, bool))
    LocalWork(homes).work(program.body[0], state)(memory.words, memory.truths, 0, {})
    assert memory.data[0] == run(program, first)["a"][0]


def test_what_is_nested_too_deeply() -> None:
    program = _nested(250, left=False)
    with pytest.raises(PointsmanError, match="an expression of long are nested too deeply to be carried out"):
        LocalWork(Homes(program)).work(program.body[0], first_distribution(program))
