"""Images beside the text that they are, or are not, of."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from numesh.shape import NodeShape
from pointsman.artifacts.images import write_images
from pointsman.artifacts.images.images import Images
from pointsman.cli import main
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS
from pointsman.plan.make_plan import make_plan
from pointsman.program.program import Program
from pointsman.targets.numesh import make_images
from pointsman.verify.programs import MOST, program_differences

TEXT = "(loop 'l 3 (broadcast 'a 0 :m 4) (cshift 'b 1 :m 3)) (reduce 'c 'add 1 :m 4) (barrier 'd)"


def program(text: str, *size: int) -> Program:
    return compile_text(text, topology=mesh(*(size or (2, 2))))


@cache
def images(text: str) -> Images:
    return make_images(make_plan(program(text), NodeShape(), name="programs"))


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "(allreduce 'a 'add :m 2 :impl 'repl_allreduce)",
        "(subset (make-1d 'x) (cshift 'a (runtime) :m 2 :impl 'sch_shift))",
        "(permute 'a (runtime) :m 3)",
        "(collect 'a (runtime :distributed t) :m 3)",
        "(parallel (broadcast 'a 0) (optional (barrier 'b)))",
    ],
)
def test_images_are_of_their_program(text: str) -> None:
    assert program_differences(images(text), program(text)) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("'b 1 :m 3", "'b 2 :m 3", "operator 'b' (cshift) is another operator in the images"),
        ("'b 1 :m 3", "'b 1 :m 4", "operator 'b' (cshift) is another operator in the images"),
        ("'add", "'max", "operator 'c' (reduce) is another operator in the images"),
        ("(barrier 'd)", "", "operator 'd' of the images is not in the program"),
        ("(barrier 'd)", "(barrier 'e)", "operator 'e' (barrier) is not in the images"),
        ("'l 3", "'m 3", "the images have the loops l, the program m"),
    ],
)
def test_another_program_is_told(old: str, new: str, said: str) -> None:
    assert said in program_differences(images(TEXT), program(TEXT.replace(old, new)))


def test_another_network_is_told_and_differences_are_counted() -> None:
    found = program_differences(images(TEXT), program(TEXT, 3, 2))
    assert found[0] == "the images are for a 2x2 mesh, the program is for a 3x2 mesh"
    many = " ".join(f"(barrier 'x{k})" for k in range(MOST + 3))
    assert program_differences(images(TEXT), program(many))[-1].startswith("and ")


def test_the_command_compares_them(tmp_path: Path) -> None:
    image, right, wrong = tmp_path / "a.image", tmp_path / "a.cop", tmp_path / "b.cop"
    write_images(images(TEXT), image)
    right.write_text(TEXT)
    wrong.write_text(TEXT.replace("'b 1", "'b 3"))
    done = CliRunner().invoke(main, ["check", str(image), "--program", str(right)])
    assert done.exit_code == 0, done.output
    assert f"programs: every operator is that of {right}" in done.output
    done = CliRunner().invoke(main, ["check", str(image), "--program", str(wrong)])
    assert done.exit_code == 1
    assert "operator 'b' (cshift) is another operator in the images" in done.output


def test_an_operator_with_a_schedule_for_its_only_value_is_that_of_the_text() -> None:
    program = compile_text("(loop 'l 1 (broadcast 'b 0 :m 1) (cshift 'o (runtime) :m 200))", topology=mesh(1))
    images = make_images(make_plan(program, NodeShape(), name="one"))
    assert program_differences(images, program) == []


def test_a_replaced_operator_may_have_a_part_with_a_schedule_for_each_value() -> None:
    """These were taken for operators that the program does not have."""
    text = "(loop 'l 3 (reduce 'r 'add (runtime) :m 6) (cshift 'c 1 :m 4)) (barrier 'd)"
    ways = [one for one in IMPLEMENTATIONS if "stream" not in one.kinds or one.name == "sch_stream"]
    ways = [one for one in ways if "reduce" not in one.kinds or one.name in ("repl_runtime_reduce", "str_reduce")]
    made = make_images(make_plan(program(text), NodeShape(), name="r", implementations=ways))
    schedules = [one for one in made.operators if one.label == "r/stream"]
    assert len(schedules) == 4
    assert program_differences(made, program(text)) == []
    (line,) = program_differences(made, program(text.replace(":m 6", ":m 5")))
    assert line == "operator 'r' (reduce) is another operator in the images"
