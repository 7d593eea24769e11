"""Algorithms of others as applications: they run, and every chunk is right."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest

import pointsman
from pointsman.artifacts.algorithms.algorithm import Action, Algorithm, Buffers, Message
from pointsman.artifacts.algorithms.by_name import APPLICATION, import_msccl
from pointsman.artifacts.algorithms.file import algorithm_bytes
from pointsman.cop import compile_program, program_to_cop
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime import WrongAnswer
from pointsman.runtime.algorithms import AlgorithmApplication

RING = import_msccl(Path(__file__).parents[4] / "examples/formats/ring_allreduce.xml", application=False)[0].decode()


class Ring(AlgorithmApplication):
    algorithm = RING


def made(words: int = 3, size: tuple[int, ...] = (2, 2)) -> Ring:
    return Ring(Namespace(words=words), mesh(*size))


def test_the_example_runs_and_equals_numpy(tmp_path: Path) -> None:
    path = tmp_path / "ring.py"
    path.write_bytes(
        import_msccl(Path(__file__).parents[4] / "examples/formats/ring_allreduce.xml", application=True)[0]
    )
    result = pointsman.run(path, mesh(2, 2), arguments=["--words", "3"], engine="model", effort=0.3)
    assert result.correct
    assert "16 chunks of 3 words of the allreduce are right" in result.answer


def direct_allgather(ranks: int) -> str:
    """MSCCL's XML of an allgather in which every rank sends its chunk to each other."""
    gpus = []
    for rank in range(ranks):
        steps = [("-1", "-1", "cpy", rank)]
        for other in set(range(ranks)) - {rank}:
            steps += [(str(other), "-1", "s", rank), ("-1", str(other), "r", other)]
        blocks = "".join(
            f'<tb id="{k}" send="{to}" recv="{source}" chan="0"><step s="0" type="{kind}" srcbuf="i" srcoff="0" dstbuf="o" '
            f'dstoff="{at}" cnt="1" depid="-1" deps="-1" hasdep="0"/></tb>'
            for k, (to, source, kind, at) in enumerate(steps)
        )
        gpus.append(f'<gpu id="{rank}" i_chunks="1" o_chunks="{ranks}" s_chunks="0">{blocks}</gpu>')
    head = f'nchannels="1" nchunksperloop="{ranks}" ngpus="{ranks}" coll="allgather" inplace="0"'
    return f'<algo name="direct" proto="Simple" {head}>{"".join(gpus)}</algo>'


def test_nodes_come_to_messages_of_others_too(tmp_path: Path) -> None:
    """Else those wait for ever whose phase ends by a barrier of all nodes, among them node 3, which is no rank."""
    (tmp_path / "direct.xml").write_text(direct_allgather(3))
    path = tmp_path / "direct.py"
    path.write_bytes(import_msccl(tmp_path / "direct.xml", application=True)[0])
    assert pointsman.run(path, mesh(2, 2), engine="model", effort=0.3).correct


def test_a_sendrecv_runs_and_equals_numpy(tmp_path: Path) -> None:
    """Over two others: the answer is that of the rank before, not of those between."""
    sizes, step = Buffers(2, 2, 0), "over two ranks"
    messages = tuple(Message((k + hop) % 4, (k + hop + 1) % 4, 2) for hop in range(3) for k in range(4))
    actions = [Action(k, (("i", 0),), ("m", k), 2, step) for k in range(4)]
    actions += [
        Action((k + hop) % 4, (("m", 4 * hop - 4 + k),), ("m", 4 * hop + k), 2, step)
        for hop in (1, 2)
        for k in range(4)
    ]
    actions += [Action((k + 3) % 4, (("m", 8 + k),), ("o", 0), 2, step) for k in range(4)]
    algorithm = Algorithm("x", "sendrecv", 4, sizes, messages, tuple(actions), distance=3)
    path = tmp_path / "made.py"
    path.write_text(APPLICATION.format(title="x", file="x", text=algorithm_bytes(algorithm).decode().strip()))
    result = pointsman.run(path, mesh(2, 2), arguments=["--words", "3"], engine="model", effort=0.3)
    assert result.correct
    assert "8 chunks of 3 words of the sendrecv are right" in result.answer


def test_rounds_alike_are_a_loop_and_where_each_node_sends_they_are_permutations() -> None:
    def text(size: tuple[int, ...], algorithm: str = RING) -> str:
        class Made(AlgorithmApplication):
            pass

        Made.algorithm = algorithm
        application = Made(Namespace(words=3), mesh(*size))
        return program_to_cop(compile_program(application.program, topology=mesh(*size), name="x"))

    assert "(loop 'rounds_m0 6\n  (cshift 'm0 1 :m 3))" in text((2, 2))
    assert "(permute 'm0 '(1 2 3 0 4 5) :m 3)" in text((3, 2))


def test_a_wrong_chunk_is_told() -> None:
    application = made()
    with pytest.raises(WrongAnswer, match=r"rank 0: o\[0\] is None, and must be"):
        application.check([{}] * 4)


@pytest.mark.parametrize(("words", "size", "told"), [(0, (2, 2), "--words must be"), (1, (3,), "4 ranks need 4 nodes")])
def test_too_few_words_or_nodes_are_refused(words: int, size: tuple[int, ...], told: str) -> None:
    with pytest.raises(PointsmanError, match=told):
        made(words, size)
