"""Array programs that run: random ones without hardware, examples on every target, each against the sequential meaning."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import IO

import numpy as np
import pytest

import pointsman
from loading import module_at
from pointsman.arrays.analysis import derive
from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.execution import transfers
from pointsman.arrays.execution.following import follow
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.phases import Run, array_phases
from pointsman.artifacts.configurations.configurations import Network
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.network.faults import with_faults
from pointsman.runtime import array_programs
from pointsman.runtime.array_programs import ArrayApplication, application_text, first_values, read_values

ROOT = Path(__file__).parents[4]
EXAMPLES = ROOT / "examples/arrays"
HEAD = (
    "program p\nreal, dimension(8) :: a, b\nreal s\n!hpf$ processors q(4)\n!hpf$ template t(8)\n"
    "!hpf$ align (i) with t(i) :: a, b\n!hpf$ distribute t(block)\n"
)


@pytest.fixture(scope="module")
def enumeration() -> ModuleType:
    path = ROOT / "tests/sw/pointsman/arrays/analysis/enumeration.py"
    return module_at(path, "arrays_enumeration_of_runs")


def _dry(application: ArrayApplication) -> None:
    result = pointsman.run(application, dry=True, warnings="ignore")
    assert result.correct, result.text


@pytest.mark.parametrize("part", range(4))
def test_random_programs(part: int, enumeration: ModuleType) -> None:
    """Loops, branches, redistributions, every distribution; ``soak_arrays.py`` runs many more."""
    for seed in range(part * 40, part * 40 + 40):
        try:
            _dry(ArrayApplication(enumeration.random_program(seed)))
        except Exception as error:
            raise AssertionError(f"random program {seed}") from error


def test_random_programs_over_several_grids(enumeration: ModuleType) -> None:
    """And every message that a run has is carried by the phases made for it, however these were chosen."""
    for seed in range(12):
        program = enumeration.random_program(seed, several=True)
        communications = derive(program)["scheduled"]
        application = ArrayApplication(program, communications=communications)
        _dry(application)
        followed = follow(application.sites)
        network = Network("crossbar", (program.grid.size,))
        for run in (None, Run(followed)):
            found = array_phases(communications, network, 3, run=run)
            names = {id(one.message) if one.message else one.statement: one.name for one in found.patterns}
            for site, transfers_ in followed.messages():
                name = names[id(site.message) if site.message else site.statement]
                carried = frozenset().union(*(one.connections for one in found.phases if name in one.names))
                assert transfers_.keys() <= carried, f"random program {seed}: {name}"


@pytest.mark.slow
@pytest.mark.parametrize("target", ["numesh", "packet", "tdm"])
@pytest.mark.parametrize("seed", range(4, 310, 7))
def test_random_programs_on_every_target(seed: int, target: str, enumeration: ModuleType) -> None:
    application = ArrayApplication(enumeration.random_program(seed))
    if sum(map(len, application.cop_program.steps.values())) > 8:
        pytest.skip("more operators than are planned quickly")
    engine = {} if target == "tdm" else {"engine": "model"}
    assert pointsman.run(application, target=target, warnings="ignore", **engine).correct


def test_poison_shows_what_was_not_sent(enumeration: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that forgets the last element of every message is found out."""
    whole = transfers._by_pair

    def less(*given: object) -> transfers.Transfers:
        return {pair: what[:-1] for pair, what in whole(*given).items() if len(what) > 1}  # type: ignore[arg-type]

    monkeypatch.setattr(transfers, "_by_pair", less)
    found = 0
    for seed in range(12):
        try:
            found += not pointsman.run(
                ArrayApplication(enumeration.random_program(seed)), dry=True, warnings="ignore"
            ).correct
        except PointsmanError as error:
            assert re.search("neither owns nor was sent|has to send elements that it does not have", str(error))
            found += 1
    assert found >= 6


@pytest.mark.long
@pytest.mark.parametrize("target", ["numesh", "packet", "tdm"])
def test_jacobi_on_every_target(target: str) -> None:
    path = EXAMPLES / "jacobi.f90"
    program = read_program(path.read_text(), path.name, values={"n": 6, "steps": 2}, processors=(2, 2))
    options = {"engine": "model"} if target != "tdm" else {}
    result = pointsman.run(ArrayApplication(program), target=target, **options)
    assert result.correct
    assert result.values["total_cycles"] > 0


def test_other_networks_and_words() -> None:
    program = read_program(HEAD + "a(2:8) = b(1:7)\nb = a / 3\nend\n", "p.f90")
    for words in (1, 2):
        _dry(ArrayApplication(program, mesh(2, 2), words=words))
    with pytest.raises(ArrayProgramError, match=r"^p has 4 processors, not the 2 of the mesh of 2 nodes"):
        ArrayApplication(program, mesh(2))


def test_one_processor_sends_nothing() -> None:
    text = (EXAMPLES / "jacobi.f90").read_text()
    application = ArrayApplication(read_program(text, "j.f90", values={"n": 4, "steps": 1}, processors=(1, 1)))
    assert not application.cop_program.steps
    _dry(application)


def test_a_branch_and_a_redistribution_in_a_loop() -> None:
    body = (
        "do k = 1, 3\n if (a(1) > b(8)) then\n!hpf$ redistribute t(cyclic)\n  a(2:8) = b(1:7)\n"
        " else\n!hpf$ redistribute t(block)\n"
        "  s = b(k) + s\n end if\n b(1:7) = a(2:8) + s\nend do\n"
    )
    _dry(ArrayApplication(read_program(HEAD + body + "end\n", "p.f90")))


def test_what_cannot_be_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(body: str, **options: object) -> ArrayApplication:
        return ArrayApplication(read_program(HEAD + body + "end\n", "p.f90"), **options)  # type: ignore[arg-type]

    with pytest.raises(ArrayProgramError, match="n has no value in p"):
        made("do i = 1, n\n a(i) = b(i)\nend do\n")
    with pytest.raises(ArrayProgramError, match=r"cannot be carried out with these first values: .*division by zero"):
        made("a = 1 / (b - b)\n")
    with pytest.raises(PointsmanError, match=r"p.f90:8:.*outside the bounds of a, 1:8"):
        made("if (a(1) < 9) a(9) = 1\n")
    with pytest.raises(
        ArrayProgramError, match="m has whole numbers beyond 16777216, which elements of 32 bits do not hold"
    ):
        made("m = 2 ** 25\na = m\n")
    _dry(made("m = 2 ** 25\na = m\n", words=2))
    monkeypatch.setattr(array_programs, "NODE_WORDS", 16)
    with pytest.raises(ArrayProgramError, match=r"the arrays of p take 17 words, .*; a node has 16"):
        made("a = s\n")


def test_a_wrong_answer_is_told() -> None:
    application = ArrayApplication(read_program(HEAD + "a(2:8) = b(1:7)\nend\n", "p.f90"))
    application.expected["a"][4] += 1
    result = pointsman.run(application, dry=True)
    assert not result.correct
    assert "a(5) is" in result.text
    assert "by the sequential meaning" in result.text


def test_values_that_cannot_be_written_leave_the_file_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    application = ArrayApplication(read_program(HEAD + "a(2:8) = b(1:7)\nend\n", "p.f90"))
    _dry(application)

    def half(file: IO[bytes], **arrays: object) -> None:
        file.write(b"half")
        raise OSError("no space left")

    path = tmp_path / "out.npz"
    path.write_text("before")
    monkeypatch.setattr(np, "savez", half)
    with pytest.raises(OSError, match="no space left"):
        application.save(path)
    assert path.read_text() == "before"


def test_values_from_files_and_to_files(tmp_path: Path) -> None:
    program = read_program(HEAD + "a(2:8) = b(1:7)\nend\n", "p.f90")
    np.savez(tmp_path / "in.npz", B=np.arange(8))
    first = {**first_values(program), **read_values(tmp_path / "in.npz", program)}
    application = ArrayApplication(program, first=first)
    _dry(application)
    application.save(tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as file:
        assert file["a"][1:].tolist() == [0, 1, 2, 3, 4, 5, 6]
    np.savez(tmp_path / "in.npz", b=np.arange(7))
    with pytest.raises(PointsmanError, match=r"b has the shape \(7,\), and is an array of numbers of the shape \(8,\)"):
        read_values(tmp_path / "in.npz", program)
    np.savez(tmp_path / "in.npz", b=np.full(8, "x"))
    with pytest.raises(PointsmanError, match=r"b has elements of <U1, and is an array of numbers of the shape \(8,\)"):
        read_values(tmp_path / "in.npz", program)
    whole = read_program("program p\ninteger k(2)\n!hpf$ processors q(2)\nk = k + 1\nend\n", "p.f90")
    np.savez(tmp_path / "in.npz", k=np.array([1.5, 2]))
    with pytest.raises(PointsmanError, match="k has fractions, and is of whole numbers in p"):
        read_values(tmp_path / "in.npz", whole)
    np.savez(tmp_path / "in.npz", c=np.arange(7))
    with pytest.raises(PointsmanError, match="and is no array in p"):
        read_values(tmp_path / "in.npz", program)
    (tmp_path / "in.npz").write_text("nothing")
    with pytest.raises(PointsmanError, match="cannot read"):
        read_values(tmp_path / "in.npz", program)


def test_an_application_of_its_own(tmp_path: Path) -> None:
    text = HEAD + 'a(2:8) = b(1:7) ! "quoted" \\n {braces}\nend\n'
    (tmp_path / "p.py").write_text(application_text(text, "p.f90", {}, (4,), 1))
    result = pointsman.run(tmp_path / "p.py", mesh(4), dry=True)
    assert result.correct


def test_processors_are_the_nodes_that_work() -> None:
    program = read_program(HEAD + "a(2:8) = b(1:7)\nend\n", "p.f90")
    network = with_faults(mesh(5, 1), nodes=[0])
    assert pointsman.run(ArrayApplication(program, network), network, target="packet", engine="model").correct
    assert pointsman.run(ArrayApplication(program, network), network, dry=True).correct
    with pytest.raises(ArrayProgramError, match="p has 4 processors, not the 3 of the 4x1 mesh with faults"):
        ArrayApplication(program, with_faults(mesh(4, 1), nodes=[0]))
