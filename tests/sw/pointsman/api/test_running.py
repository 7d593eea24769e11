"""``pointsman.run`` from Python."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pywellen import Waveform

import pointsman
from cosim.engines.verilated.build import find_compiler
from pointsman import cop
from pointsman.cop import Network, Parts
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.network.faults import with_faults
from pointsman.runtime import Application, Node, WrongAnswer
from pointsman.runtime.splitc import AccessError, SplitC, SplitCApplication


class Ring(Application):
    """Every node gives its number, and more, to the next."""

    @classmethod
    def options(cls, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--words", type=int, default=2)
        parser.add_argument("--wrong", action="store_true")
        parser.add_argument("--fault", nargs="*", type=int, default=[])

    def parameters(self) -> dict[str, int]:
        return {"words": self.options_given.words}

    def program(self, net: cop.Network, words: int = 2) -> cop.Parts:
        return [cop.cshift("c", 1, m=words)]

    async def main(self, node: Node) -> Any:
        if node.number in self.options_given.fault:
            raise ValueError("asked for")
        await node.cop.c_load()
        return int((await node.cop.c_func(np.full(self.options_given.words, node.number, np.int32)))[0])

    def check(self, results: Any) -> str:
        if self.options_given.wrong:
            raise WrongAnswer("as asked for")
        return "everybody has a neighbour's number"


@pytest.mark.parametrize("target", ["numesh", "tdm"])
def test_a_class_runs_with_its_options(target: str) -> None:
    result = pointsman.run(Ring, mesh(4), target=target, engine="model", arguments={"words": 3})
    assert result.correct
    assert result.answer == "everybody has a neighbour's number"
    assert result.returned == [3, 0, 1, 2]
    assert result.values["target"] == target
    assert result.cycles.shape[0] == 4
    assert result.total_cycles == result.values["total_cycles"] > 0


def test_a_wrong_answer_is_a_result() -> None:
    result = pointsman.run(Ring, "2", dry=True, arguments=["--wrong"])
    assert not result.correct
    assert result.answer == "as asked for"
    assert pointsman.run(Ring, "2", dry=True, arguments={"wrong": False}).correct


def test_an_object_brings_its_network() -> None:
    options = argparse.Namespace(words=2, wrong=False, fault=[])
    app = Ring(options, mesh(3))
    assert pointsman.run(app, dry=True).returned == [2, 0, 1]
    with pytest.raises(
        PointsmanError, match="the application was made for a mesh of 3 nodes, not for a mesh of 4 nodes"
    ):
        pointsman.run(app, mesh(4), dry=True)
    with pytest.raises(PointsmanError, match="has its options"):
        pointsman.run(app, dry=True, arguments={"words": 4})


def test_a_fault_of_the_application_names_its_line() -> None:
    with pytest.raises(PointsmanError, match=r"test_running\.py:\d+: ValueError: asked for"):
        pointsman.run(Ring, "2", dry=True, arguments={"fault": [1]})


class Wild(SplitCApplication):
    """Reads where there is nothing."""

    async def splitc_main(self, splitc: SplitC) -> None:
        await splitc.read(splitc.pointer(0, 0, np.int32))


def test_an_error_of_ours_keeps_its_kind_and_names_the_line_of_the_class_that_was_written() -> None:
    with pytest.raises(AccessError, match=r"the null pointer\n  called from .*test_running\.py:\d+ in splitc_main"):
        pointsman.run(Wild, "2", target="logp")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"arguments": {"word": 3}}, "the application has no option 'word'\n  hint: it has words, wrong, fault"),
        ({"arguments": {"words": "many"}}, "argument --words: invalid int value: 'many'"),
        ({"engine": "model", "dry": True}, "--engine is about hardware, and --dry runs without any"),
        ({"image": "x.image", "dry": True}, "--dry runs the program, --image an image"),
        ({"wave_window": (1, 2)}, "--wave-window needs --wave"),
        ({"target": "packet", "seed": 1}, "--seed is for scheduled routers, not for --target packet"),
        ({"target": "packet", "image": "x"}, "--image is for scheduled routers"),
        ({"trace": "/nowhere/t.json"}, "cannot write /nowhere/t.json: there is no folder"),
    ],
)
def test_wrong_arguments_say_so(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(PointsmanError) as found:
        pointsman.run(Ring, "2", **arguments)
    assert said in str(found.value)


RING = """
import numpy as np
from pointsman.runtime import Application

class Ring(Application):
    program = "ring.cop"

    async def main(self, node):
        await node.cop.c_load()
        return int((await node.cop.c_func(np.full(2, node.number)))[0])
"""


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """A file with an application, beside its program ring.cop."""
    (tmp_path / "ring.cop").write_text("(cshift 'c 1 :m 2)")
    path = tmp_path / "ring.py"
    path.write_text(RING)
    return path


@pytest.mark.parametrize("name", ["ring.py", "ring.cop", "../{folder}/ring.cop"])
@pytest.mark.parametrize("option", ["trace", "wave", "outputs"])
def test_an_application_and_its_program_are_not_overwritten(ring: Path, option: str, name: str) -> None:
    own = ring.parent / name.format(folder=ring.parent.name)
    before = own.read_text()
    what = "is the application" if own.suffix == ".py" else "has the application's program"
    with pytest.raises(PointsmanError) as found:
        pointsman.run(ring, "3", **{option: [own] if option == "outputs" else own})
    assert str(found.value) == f"cannot write {own}: it {what}\n  hint: give another name"
    assert own.read_text() == before


def test_an_engine_that_cannot_be_kept_is_refused_before_the_program_is_planned(
    ring: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def planned(*args: Any, **given: Any) -> None:
        raise AssertionError("planned")

    monkeypatch.setattr("pointsman.plan.fitting.fitted_plan", planned)
    monkeypatch.setenv("POINTSMAN_CACHE", str(ring / "cache"))  # in a file there can be no folder
    monkeypatch.setenv("CXX", "true")
    with pytest.raises(PointsmanError, match="the engine cannot be kept in"):
        pointsman.run(ring, "3")
    with pytest.raises(PointsmanError, match="engine 'model' writes no waveforms"):
        pointsman.run(ring, "3", engine="model", wave=ring.with_suffix(".fst"))


@pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")
def test_a_waveform_with_nothing_in_it_is_told(ring: Path) -> None:
    wave = ring.with_suffix(".fst")
    cycles = pointsman.run(ring, "3").total_cycles
    last = pointsman.run(ring, "3", wave=wave, wave_window=(cycles, cycles + 9))
    assert last.notes == ()
    assert Waveform(str(wave)).all_vars()
    beyond = pointsman.run(ring, "3", wave=wave, wave_window=(cycles + 1, cycles + 9))
    assert beyond.notes == (
        f"note: nothing is in the waveform: --wave-window begins with cycle {cycles + 1}, and the run took {cycles} cycles",
    )


def test_a_file_and_its_image(ring: Path) -> None:
    image = ring.with_suffix(".image")
    first = pointsman.run(ring, mesh(3), engine="model")
    pointsman.compile(ring.with_suffix(".cop"), mesh(3)).write(image)
    second = pointsman.run(ring, mesh(3), engine="model", image=image)
    assert first.returned == second.returned == [2, 0, 1]
    assert np.array_equal(first.cycles, second.cycles)


class Counted(Application):
    """A broadcast from each node that works in turn, by the numbers that docs/applications.md tells to take."""

    def program(self, net: Network) -> Parts:
        return cop.loop("l", net.nodes, cop.broadcast("b", cop.runtime(), type="int32"))

    async def main(self, node: Node) -> list[int]:
        rank, ranks = self.topology.working.index(node.number), len(self.topology.working)
        heard = []
        await node.cop.l_load()
        for source in range(ranks):
            await node.cop.b_load(source)
            if source == rank:
                await node.cop.b_write(node.number)
                heard.append(node.number)
            else:
                heard.append(await node.cop.b_read())
        return heard


@pytest.mark.parametrize("how", [{"dry": True}, {"target": "packet"}, {"target": "tdm"}, {}])
def test_run_time_values_count_the_nodes_that_work(how: dict[str, Any]) -> None:
    engine = {} if "dry" in how else {"engine": "model"}
    done = pointsman.run(Counted, with_faults(mesh(3, 2), nodes=[2]), **how, **engine)
    working = [0, 1, 3, 4, 5]
    assert list(done.returned) == [working if node in working else None for node in range(6)]


class Unfinished(Application):
    program = "name.cop"


class Textual(Application):
    program = "(cshift 'c 1)"

    async def main(self, node: Node) -> None:
        await node.cop.c_load()


class Bare(Application):
    async def main(self, node: Node) -> None:
        await node.compute(1)


@pytest.mark.parametrize(
    ("application", "said"),
    [
        (3, "not an object of int"),
        (None, "not an object of NoneType"),
        (Path, "not Path"),
        (lambda net: [], "derives from pointsman.runtime.Application, not an object of function"),
        (Unfinished, r"test_running.py: Unfinished must define main"),
        (Bare, "Bare must name its COP file, or be its own program"),
        (Textual, "that is the text of a program: put it into a file"),
    ],
)
def test_what_is_no_application_is_refused(application: Any, said: str) -> None:
    with pytest.raises(PointsmanError, match=said):
        pointsman.run(application, "2x2", engine="model")


def test_numbers_of_numpy_are_options_and_parameters() -> None:
    done = pointsman.run(
        Ring,
        mesh(np.int64(2), np.int32(2)),
        arguments={"words": np.int64(3)},
        engine="model",
        effort=np.float32(1),
        seed=np.uint8(1),
    )
    assert done.correct
    with pytest.raises(PointsmanError, match="effort must be a number above 0"):
        pointsman.run(Ring, "2x2", effort=np.float32("nan"))
