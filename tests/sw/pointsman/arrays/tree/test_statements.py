"""Walks over the tree."""

from __future__ import annotations

from pointsman.arrays.building import ProgramBuilder
from pointsman.arrays.tree.affine import Affine
from pointsman.arrays.tree.statements import assignments, reads


def test_reads_and_regions() -> None:
    build = ProgramBuilder("p", (2,))
    line = build.template("line", (8,), ("block",))
    a, b, at = (build.array(name, (8,), line) for name in ("a", "b", "at"))
    with build.loop("i", 0, 7) as i:
        with build.when(b[i] > 0):
            a[i] = b[at[i]] + b[i + 1]
    program = build.program()
    ((statement, around),) = assignments(program.body)
    assert [one.name for one in around] == ["i"]
    assert [str(read) for read in reads(statement)] == ["at(i)", "b(?)", "b(i+1)"]
    region, anywhere = reads(statement)[1].region(program.arrays)
    assert region == (Affine.of("any'1"),)
    assert [str(one) for one in anywhere] == ["any'1 = 0:7:1"]
    loop = program.body[0]
    assert reads(loop) == ()
    assert [str(read) for read in reads(loop.body[0])] == ["b(i)"]  # type: ignore[union-attr]
