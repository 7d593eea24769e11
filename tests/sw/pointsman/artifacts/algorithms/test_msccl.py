"""MSCCL's XML: algorithms of several collectives, and refusals by line and step."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from pointsman.artifacts.algorithms.algorithm import Algorithm
from pointsman.artifacts.algorithms.msccl import from_msccl
from pointsman.errors import PointsmanError

EXAMPLE = Path(__file__).parents[5] / "examples/formats/ring_allreduce.xml"


def xml(
    collective: str, chunks: tuple[int, int, int], gpus: list[list[tuple[int, int, list[str]]]], place: int = 0
) -> str:
    """A file; a thread block is (send, recv, steps), a step "type src srcoff dst dstoff" with "@tb.step" behind it to wait
    for."""
    lines = [f'<algo name="x" coll="{collective}" inplace="{place}" ngpus="{len(gpus)}" nchannels="1" proto="LL">']
    for g, blocks in enumerate(gpus):
        lines.append(f'<gpu id="{g}" i_chunks="{chunks[0]}" o_chunks="{chunks[1]}" s_chunks="{chunks[2]}">')
        for b, (send, recv, steps) in enumerate(blocks):
            lines.append(f'<tb id="{b}" send="{send}" recv="{recv}" chan="0">')
            for s, step in enumerate(steps):
                text, _, after = step.partition("@")
                kind, src, srcoff, dst, dstoff = text.split()
                tb, at = after.split(".") if after else ("-1", "-1")
                lines.append(
                    f'<step s="{s}" type="{kind}" srcbuf="{src}" srcoff="{srcoff}" dstbuf="{dst}" dstoff="{dstoff}" '
                    f'cnt="1" depid="{tb}" deps="{at}" hasdep="0"/>'
                )
            lines.append("</tb>")
        lines.append("</gpu>")
    return "\n".join([*lines, "</algo>"])


def read(text: str) -> Algorithm:
    return from_msccl(io.BytesIO(text.encode()))


def ring_allgather(n: int) -> str:
    """In place: the input of rank g is output chunk g."""
    kinds = ["s", *["rcs"] * (n - 2), "r"]
    gpus = []
    for g in range(n):
        steps = [f"{kind} o {(g - s) % n} o {(g - s) % n}" for s, kind in enumerate(kinds)]
        gpus.append([((g + 1) % n, (g - 1) % n, steps)])
    return xml("allgather", (1, n, 0), gpus, place=1)


@pytest.mark.parametrize("place", [0, 1])
def test_copies_of_a_gpu_are_done_before_its_steps(place: int) -> None:
    text = ring_allgather(3).replace('inplace="1"', f'inplace="{place}"')
    with_copies = text
    for g in range(3):
        gpu = f'<gpu id="{g}" i_chunks="1" o_chunks="3" s_chunks="0">'
        assert gpu in text
        with_copies = with_copies.replace(gpu, f'{gpu}<copy i_off="0" o_off="{g}"/>')
    algorithm = read(with_copies)
    assert (algorithm.collective, len(algorithm.messages)) == ("allgather", 6)
    assert algorithm.actions[0].step == "line 2: rank 0, copy"
    if not place:
        with pytest.raises(PointsmanError, match=r"reads o\[0\], in which there is nothing yet"):
            read(text)
    with pytest.raises(PointsmanError, match=r"rank 1, copy reads i\[4\], in which there is nothing yet"):
        read(with_copies.replace('<copy i_off="0" o_off="1"/>', '<copy i_off="4" o_off="1"/>'))
    with pytest.raises(PointsmanError, match="line 2: o_off must be a whole number from 0 on, not '-1'"):
        read(with_copies.replace('o_off="0"', 'o_off="-1"'))


def ring_reduce_scatter(n: int) -> str:
    """In place: rank g ends with input chunk g added up."""
    kinds = ["s", *["rrs"] * (n - 2), "rrc"]
    gpus = []
    for g in range(n):
        steps = [f"{kind} i {(g - 1 - s) % n} i {(g - 1 - s) % n}" for s, kind in enumerate(kinds)]
        gpus.append([((g + 1) % n, (g - 1) % n, steps)])
    return xml("reduce_scatter", (n, 1, 0), gpus, place=1)


def alltoall(n: int) -> str:
    """A thread block for each peer, and one that copies."""
    gpus = []
    for g in range(n):
        blocks = [(p, p, [f"s i {p} o {p}", f"r i {g} o {p}"]) for p in range(n) if p != g]
        gpus.append([*blocks, (-1, -1, [f"cpy i {g} o {g}"])])
    return xml("alltoall", (n, n, 0), gpus)


def pairs_allreduce(n: int) -> str:
    """Everybody sends everything to everybody, into scratch; a block of its own adds up as chunks come."""
    gpus = []
    for g in range(n):
        peers = [p for p in range(n) if p != g]
        blocks = [(p, p, [f"s i 0 s {g}", f"r i 0 s {p}"]) for p in peers]
        adds = ["cpy i 0 o 0", *(f"re s {p} o 0@{k}.1" for k, p in enumerate(peers))]
        gpus.append([*blocks, (-1, -1, adds)])
    return xml("allreduce", (1, 1, n), gpus)


def test_the_example_is_an_allreduce_in_twice_the_ring_but_one() -> None:
    with EXAMPLE.open("rb") as file:
        algorithm = from_msccl(file)
    assert (algorithm.collective, algorithm.ranks, len(algorithm.messages)) == ("allreduce", 4, 24)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("make", [ring_allgather, ring_reduce_scatter, alltoall, pairs_allreduce])
def test_algorithms_do_their_collective(make, n: int) -> None:
    algorithm = read(make(n))
    assert algorithm.ranks == n
    assert all(message.source != message.destination for message in algorithm.messages)


def test_what_only_tunes_the_hardware_is_passed_over() -> None:
    text = ring_allgather(3).replace("<algo ", '<algo maxcount="1" nthreadblocks="24" minBytes="0" maxBytes="9" ')
    assert read(text) == read(ring_allgather(3))


def test_a_missing_dependency_is_found_by_the_other_order() -> None:
    text = pairs_allreduce(3).replace('depid="0" deps="1"', 'depid="-1" deps="-1"')
    with pytest.raises(PointsmanError, match=r"step 1 \(re\) reads s\[\d\], in which there is nothing yet"):
        read(text)


RIGHT = ring_allgather(3)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("<algo", "<algorithm", "line 1: <algorithm> is not known at the beginning"),
        ('coll="allgather"', 'coll="custom"', "a collective must be allgather"),
        ('coll="allgather" ', "", "line 1: coll must say which collective"),
        ('ngpus="3"', 'ngpus="4"', "line 1: ngpus is 4, and there are 3 gpus"),
        ('type="rcs"', 'type="copy"', "line 5: a step of type 'copy' is not known"),
        ('cnt="1"', 'cnt="0"', "line 4: cnt must be a whole number from 1 on, not '0'"),
        ('srcbuf="o"', 'srcbuf="x"', "line 4: srcbuf must be i, o or s, not 'x'"),
        (' s="1"', ' s="2"', "line 5: steps must be numbered from 0, and this must be 1, not 2"),
        ('send="1"', 'send="0"', "line 3: a thread block of gpu 0 must not send to itself"),
        ('send="1"', 'send="7"', "rank 0, thread block 0: there is no gpu 7"),
        ('send="1"', 'send="-1"', "line 4: a step of type s must be in a thread block that sends"),
        ('<gpu id="1"', '<gpu id="0"', "line 9: gpu 0 is there already"),
        ('depid="-1" deps="-1"', 'depid="5" deps="0"', "waits for step 0 of thread block 5, which is not there"),
        ('hasdep="0"', 'wait="0"', "line 4: wait of <step> is not known"),
        ("</algo>", "", "line 23: this is no XML"),
        ('type="r"', 'type="nop"', "sends to rank 0 on channel 0, where nothing receives it|waits for ever"),
        ('srcoff="0"', 'srcoff="1"', r"reads o\[1\], in which there is nothing yet"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line_or_step(old: str, new: str, told: str) -> None:
    assert old in RIGHT
    with pytest.raises(PointsmanError, match=told):
        read(RIGHT.replace(old, new, 1))


def test_a_thread_block_that_is_there_twice_is_refused() -> None:
    block = RIGHT[RIGHT.index("<tb") : RIGHT.index("</tb>") + len("</tb>")]
    with pytest.raises(PointsmanError, match="thread block 0 of gpu 0 is there already"):
        read(RIGHT.replace(block, f"{block}\n{block}", 1))


def test_entities_are_refused() -> None:
    with pytest.raises(PointsmanError, match="line 1: entities are not read"):
        read('<!DOCTYPE a [<!ENTITY x "y">]>' + RIGHT)
