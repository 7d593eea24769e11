"""Which iterations may have written what is read, against all pairs of iterations."""

from __future__ import annotations

import random

from pointsman.arrays.analysis.dependence import may_flow, moved, touches, written
from pointsman.arrays.analysis.descriptors import Descriptor
from pointsman.arrays.building import ProgramBuilder
from pointsman.arrays.tree.affine import Affine, Range, Scope
from pointsman.arrays.tree.statements import Assign, DoLoop


def test_no_flow_is_overlooked_and_few_are_imagined() -> None:
    chance = random.Random(3)
    imagined = 0
    for _ in range(400):
        build = ProgramBuilder("p", (2, 2))
        plane = build.template("plane", (40, 40), ("block", "block"))
        a = build.array("a", (40, 40), plane)
        low, high = sorted(chance.sample(range(8), 2))
        step = chance.choice([1, 2, -1, -3])
        start, stop = (low, high + 1) if step > 0 else (high, low - 1)
        lines = [chance.choice([1, 1, 2, 0]), chance.randint(10, 13), chance.choice([1, 1, 0]), chance.randint(10, 13)]
        with build.loop("i", start, stop, step) as i:
            with build.loop("j", 0, 3) as j:
                a[i * lines[0] + lines[1], j + lines[2]] = 1
        program = build.program()
        loop = program.body[0]
        assert isinstance(loop, DoLoop)
        inner = loop.body[0]
        assert isinstance(inner, DoLoop)
        assign = inner.body[0]
        assert isinstance(assign, Assign)
        one = Descriptor(
            "a", (Affine.of("i") + lines[3], Affine.of("j")), "plane", (), (Range("j", Affine(0), Affine(2)),)
        )
        same = chance.random() < 0.5
        told = may_flow(program, one, (assign, (inner.range,)), loop.range, Scope(), same=same)
        values = list(loop.range.values({}))
        met = any(
            values[m] * lines[0] + lines[1] == values[n] + lines[3] and {k + lines[2] for k in range(3)} & set(range(3))
            for n in range(len(values))
            for m in range(n + same)
        )
        assert told or not met
        imagined += told and not met
    assert imagined < 40


def test_what_is_written_and_moved() -> None:
    build = ProgramBuilder("p", (2,))
    line = build.template("line", (20,), ("block",))
    a, b = build.array("a", (20,), line), build.array("b", (20,), line)
    with build.loop("i", 0, 10, 3) as i:
        a[i + 1] = 0
        b[b[i]] = 1
        build.redistribute(line, ("cyclic",))
    program = build.program()
    assert [str(box[0]) for box in written(program, program.body, "a", ())] == ["1:10:3"]
    assert [str(box[0]) for box in written(program, program.body, "b", ())] == ["0:19:1"]
    assert moved(program, program.body) == {"line"}
    assert touches(program, Descriptor("a", (Affine(1),), None, ()), {"line"})
    assert not touches(program, Descriptor("a", (Affine(1),), None, ()), {"plane"})


def test_the_summary_of_a_loop_is_what_it_kills() -> None:
    """Yuan 1998, Figure 5.3, on the loops of Figure 5.2: what the last writes, expanded over its iterations."""
    build = ProgramBuilder("figure", (2, 2))
    plane = build.template("plane", (204, 204), ("block", "block"))
    z = build.array("z", (102, 102), plane)
    w = build.array("w", (102, 102), plane, [(1, 2, 0), (0, 1, 1)])
    with build.loop("i", 1, 101) as i:
        with build.loop("j", 1, 101) as j:
            z[i, j] = w[i, j]
        w[i + 1, 100] = 0
    program = build.program()
    (loop,) = program.body
    assert isinstance(loop, DoLoop)
    whole = [tuple(map(str, box)) for box in written(program, loop.body, "w", (loop.range,))]
    assert whole == [("2:101:1", "100")]
    assert [tuple(map(str, box)) for box in written(program, loop.body, "w", ())] == [("i+1", "100")]
    assert [tuple(map(str, box)) for box in written(program, loop.body, "z", (loop.range,))] == [("1:100:1", "1:100:1")]
