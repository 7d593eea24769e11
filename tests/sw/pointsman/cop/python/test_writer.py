"""A program printed as Python makes the same program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pointsman import cop
from pointsman.errors import PointsmanError
from pointsman.network import mesh

EXAMPLES = sorted((Path(__file__).resolve().parents[5] / "examples").rglob("*.cop"))

TEXTS = [
    "(broadcast 'b 0)",
    "(reset-mesh-size 2 3) (define *mode* 'tdm) (define *schedlen* 12) (parameter n 3) (parameter k -1) (cshift 'c k)",
    "(reduce 'a 'f 1) (reduce 'b 1) (reduce 'c (runtime) (runtime)) (reduce 'd 'f (runtime)) (reduce 'e (runtime) 0)",
    "(parallel (sequential (barrier 'w) (allreduce 'x)) (phase (prefix 'p 'f) (optional (gather 'g 0) (spread 's 1))))",
    "(loop 'l 7 (subset (make-1d 'x) (broadcast 'b (runtime :values '(0 1) :block 4) :b *min* :pipelined t)))",
    "(doall ((i (all *nodes*))) (stream 'xor i (logxor i 1) :type 'float64 :c 3 :b 1/3 :impl 'str_stream))",
    "(subset '((0 1) (2 3)) (stream 's 0 (runtime :dynamic t)) (permute 'p '(1 0)) (collect 'c (runtime :distributed t)))",
    "(prefix 'p 'f :valid '(0 2))",
]


def through_python(program: cop.Program) -> cop.Program:
    source = cop.program_to_python(program)
    space: dict[str, Any] = {}
    exec(compile(source, "<emitted>", "exec"), space)
    return cop.compile_program(space["program"], topology=program.topology)


@pytest.mark.parametrize("text", TEXTS)
def test_printed_python_makes_the_same_program(text: str) -> None:
    program = cop.compile_text(text, topology=mesh(2, 2))
    assert through_python(program) == program


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("size", [(4, 4), (2, 2)])
def test_every_example_comes_back_from_python_and_from_text(path: Path, size: tuple[int, ...]) -> None:
    program = cop.compile_file(path, topology=mesh(*size))
    assert through_python(program) == program
    assert cop.compile_text(cop.program_to_cop(program), topology=program.topology) == program


def test_there_are_examples() -> None:
    assert EXAMPLES


def test_a_parameter_that_python_cannot_name_is_refused() -> None:
    program = cop.compile_text("(parameter my-n 3) (cshift 'c my-n)", topology=mesh(4))
    with pytest.raises(PointsmanError, match="'my-n' cannot be the name of a parameter in Python"):
        cop.program_to_python(program)
