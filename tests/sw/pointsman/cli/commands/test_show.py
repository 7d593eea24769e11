"""``pointsman show`` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pointsman.cli import main


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "one.cop"
    path.write_text("(broadcast 'd 0 :m 6)\n")
    return path


def show(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["show", *map(str, arguments)])


def test_page_has_the_name_of_what_is_shown_unless_another_is_named(program: Path, tmp_path: Path) -> None:
    done = show(program, "--mesh", "2x1")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "one.html").read_text().startswith("<!DOCTYPE html>")
    assert f"wrote {tmp_path / 'one.html'}" in done.output


def test_document_is_written_alone_if_only_it_is_asked_for(program: Path, tmp_path: Path) -> None:
    done = show(program, "--mesh", "2x1", "--json", tmp_path / "one.json")
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "one.json").read_text())["target"] == "numesh"
    assert not (tmp_path / "one.html").exists()


def test_nothing_is_written_if_one_of_several_files_cannot_be(program: Path, tmp_path: Path) -> None:
    done = show(program, "--mesh", "2x2x2", "-o", tmp_path / "one.html", "--npeviz", tmp_path / "one.json")
    assert done.exit_code == 2
    assert "npeviz draws a mesh of rows and columns, not a 2x2x2 mesh" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["one.cop"]


def test_programs_on_an_optical_network_are_refused_before_they_are_compiled(program: Path, tmp_path: Path) -> None:
    done = show(program, "--mesh", "2x2", "--target", "optical")
    assert done.exit_code == 2
    assert done.output.startswith("pointsman: programs on an optical network are not shown")
    assert [path.name for path in tmp_path.iterdir()] == ["one.cop"]


def test_image_is_shown_without_a_network_option(program: Path, tmp_path: Path) -> None:
    image = tmp_path / "one.image"
    made = CliRunner().invoke(main, ["compile", str(program), "--mesh", "2x1", "-o", str(image)])
    assert made.exit_code == 0, made.output
    done = show(image)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "one.html").exists()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("none.cop", None, "cannot be read"),
        ("broken.json", "{", "is no JSON"),
        ("half.json", r'{"compiled": {"messages": 1, "\ud800": 1}}', "is no JSON"),
        ("other.json", '{"a": 1}', "is no JSON that pointsman writes"),
        ("list.json", "[1]", "is no JSON that pointsman writes"),
        ("document.json", '{"format": "pointsman-show"}', "Object missing required field"),
        ("noise.image", "\x89PtsImg\nnoise", ""),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(tmp_path: Path, name: str, text: str | None, said: str) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_bytes(text.encode("latin-1"))
    done = show(path, "--mesh", "2x2")
    assert done.exit_code == 2
    assert "Traceback" not in done.output
    assert said in done.output


def test_unknown_option_is_refused_for_a_program(program: Path) -> None:
    done = show(program, "--mesh", "2x1", "--sizes", "4")
    assert done.exit_code == 2
    assert "there is no option --sizes" in done.output


def test_other_forms_are_written_on_request(program: Path, tmp_path: Path) -> None:
    forms = {"--perfetto": "t.json", "--npeviz": "n.json", "--svg": "figures", "--json": "d.json", "-o": "p.html"}
    done = show(program, "--mesh", "2x1", *(part for key, name in forms.items() for part in (key, tmp_path / name)))
    assert done.exit_code == 0, done.output
    assert all((tmp_path / name).exists() for name in forms.values())
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == ["network.svg", "space-time.svg"]


@pytest.mark.parametrize("what", [".", "..", "/"])
def test_a_folder_is_nothing_to_show(what: str) -> None:
    done = CliRunner().invoke(main, ["show", what])
    assert (done.exit_code, done.output) == (2, f"pointsman: {what} cannot be read: it is a folder\n")


def test_placed_flows_are_shown(tmp_path: Path) -> None:
    flows, placed = tmp_path / "flows.toml", tmp_path / "placed.json"
    flows.write_text('[[flow]]\nfrom = "a"\nto = ["b", "c"]\nbandwidth = 0.25\n')
    made = CliRunner().invoke(main, ["place", str(flows), "--mesh", "3x1", "--json", str(placed)])
    assert made.exit_code == 0, made.output
    done = show(placed, "--mesh", "3x1")
    assert done.exit_code == 0, done.output
