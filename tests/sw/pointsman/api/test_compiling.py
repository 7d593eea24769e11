"""``pointsman.compile`` from Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pointsman
from pointsman import cop
from pointsman.api.compiling import stage
from pointsman.artifacts.images.file import read_images
from pointsman.artifacts.tables import read_tables
from pointsman.errors import PointsmanError
from pointsman.network import mesh

MATMUL = Path(__file__).parents[4] / "examples/matmul/matmul.cop"


def ring(net: cop.Network, words: int = 4) -> cop.Parts:
    return [cop.cshift("c", 1, m=words)]


def test_a_file_a_function_and_a_program_compile_to_the_same_images(tmp_path: Path) -> None:
    path = tmp_path / "ring.cop"
    path.write_text("(parameter words 4) (cshift 'c 1 :m words)")
    made = cop.compile_file(path, topology=mesh(3), parameters={"words": 6})
    one, two, three = (
        pointsman.compile(path, "3", parameters={"words": 6}),
        pointsman.compile(ring, mesh(3), parameters={"words": 6}),
        pointsman.compile(made, mesh(3)),
    )
    assert one.artifact.nodes == two.artifact.nodes == three.artifact.nodes
    assert "str_shift" in one.text
    assert "c" in one._repr_html_()
    assert one.write(tmp_path / "ring.image") == [f"wrote {tmp_path / 'ring.image'}"]
    assert read_images(tmp_path / "ring.image").nodes == one.artifact.nodes


def test_tables_of_the_switch(tmp_path: Path) -> None:
    compiled = pointsman.compile(MATMUL, mesh(2, 2), target="tdm", parameters={"block": 8}, mode="dynamic")
    compiled.write(tmp_path / "tables")
    assert read_tables(tmp_path / "tables").mode == "dynamic"


def test_stages_as_text() -> None:
    assert stage(MATMUL, "2x2", parameters={"block": 8}).startswith("(reset-mesh-size 2 2)")
    assert "cop.broadcast" in stage(MATMUL, "2x2", "python")
    with pytest.raises(PointsmanError, match="--emit tables is a stage of target tdm"):
        stage(MATMUL, "2x2", "tables")
    with pytest.raises(PointsmanError, match="the stage must be one of program, python, plan, routes, images"):
        stage(MATMUL, "2x2", "words")


def test_likely_mistakes_are_notes_or_errors() -> None:
    def idle(net: cop.Network) -> cop.Parts:
        return [cop.cshift("c", 0, m=4)]

    told: list[str] = []
    compiled = pointsman.compile(idle, "2", tell=told.append)
    assert list(compiled.notes) == told
    if told:
        with pytest.raises(PointsmanError, match="warnings are errors here"):
            pointsman.compile(idle, "2", warnings="error")
    assert pointsman.compile(idle, "2", warnings="ignore").notes == ()


def test_a_program_of_another_network_is_refused() -> None:
    made = cop.compile_program(ring, topology=mesh(3))
    with pytest.raises(PointsmanError, match="the program was made for a mesh of 3 nodes, not for a mesh of 4 nodes"):
        pointsman.compile(made, mesh(4))
    with pytest.raises(PointsmanError, match="the program was made with other parameters"):
        pointsman.compile(made, mesh(3), parameters={"words": 9})


@pytest.mark.parametrize(
    ("program", "parameters", "said"),
    [
        (3, {}, "a program must be the path of a file, a function that makes it, or a Program, not int"),
        (None, {}, "not NoneType"),
        ("(cshift 'c 1)", {}, "that is the text of a program: put it into a file"),
        (ring, ["words"], "parameters must be a mapping of names to numbers, not list"),
        (ring, {"words": 1.5}, "parameter words must be an integer, not 1.5"),
    ],
)
def test_what_is_no_program_or_no_parameters_is_refused(program: Any, parameters: Any, said: str) -> None:
    with pytest.raises(PointsmanError, match=said):
        pointsman.compile(program, "2x2", parameters=parameters)


def test_parameters_may_be_numbers_of_numpy() -> None:
    made = [
        pointsman.compile(ring, "2x2", parameters={"words": words}, period=np.int64(4)) for words in np.array([3, 3])
    ]
    assert made[0].artifact.operators[0].m == made[1].artifact.operators[0].m == 3
