"""Messages that no node has read, told from what each node has done."""

from __future__ import annotations

from pathlib import Path

import pytest

import pointsman
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.runtime.api.unread import Moved, unread

W, R = "write", "read"


def told(text: str, moved: dict[int, Moved]) -> list[str]:
    return unread(compile_text(text, topology=mesh(2, 2)), moved)


@pytest.mark.parametrize(
    ("text", "moved", "lines"),
    [
        ("(broadcast 'b 0)", {0: {("b", W): 2}, 1: {("b", R): 2}, 2: {("b", R): 1}, 3: {}},
         ["1 message of operator 'b' from node 0 to node 2 never read",
          "2 messages of operator 'b' from node 0 to node 3 never read"]),
        ("(broadcast 'b (runtime))",
         {0: {("b", W): 1, ("b", R): 1}, 1: {("b", W): 1, ("b", R): 1}, 2: {("b", R): 2}, 3: {("b", R): 1}},
         ["1 message of operator 'b' to node 3 never read"]),
        ("(subset (make-1d 'x) (stream 's 0 1))", {0: {("s", W): 3}, 1: {("s", R): 3}, 2: {("s", W): 3}, 3: {("s", R): 1}},
         ["2 messages of operator 's' from node 2 never read"]),
        ("(gather 'g 0)", {0: {("g", R): 1}, 1: {("g", W): 1}, 2: {("g", W): 1}, 3: {("g", W): 1}},
         ["2 messages of operator 'g' never read"]),
        ("(broadcast 'b 0 :valid '(0 1))", {0: {("b", W): 2}, 1: {}, 2: {}, 3: {}}, []),
        ("(allreduce 'a)", {0: {}, 1: {}, 2: {}, 3: {}}, []),
    ],
)  # fmt: skip
def test_what_was_written_and_not_read_is_told(text: str, moved: dict[int, Moved], lines: list[str]) -> None:
    found = told(text, moved)
    assert [line.partition(": ")[2] for line in found] == lines
    assert all(line.startswith("<cop>:1:") for line in found)


def test_nodes_that_did_not_run_miss_nothing() -> None:
    assert told("(broadcast 'b 0)", {0: {("b", W): 1}, 1: {("b", R): 1}, 2: {("b", R): 1}}) == []


APPLICATION = """
from pointsman import cop
from pointsman.runtime import Application


class Hasty(Application):
    def program(self, net):
        return cop.broadcast("b", 0, m=2)

    async def main(self, node):
        await node.cop.b_load()
        if node.number == 0:
            await node.cop.b_write([1, 2])
        elif node.number == 1:
            await node.cop.b_read()

    def check(self, results):
        return "done"
"""


@pytest.mark.parametrize("how", [{"dry": True}, {"target": "numesh"}, {"target": "packet"}, {"target": "tdm"}])
def test_every_target_tells_of_what_the_reference_machine_tells_of(how: dict[str, object], tmp_path: Path) -> None:
    file = tmp_path / "hasty.py"
    file.write_text(APPLICATION)
    engine = {} if "dry" in how else {"engine": "model"}
    result = pointsman.run(file, "mesh:3x1", **how, **engine)  # type: ignore[arg-type]
    (note,) = result.notes
    assert note.startswith("note: ")
    assert note.endswith(":8:16: 1 message of operator 'b' from node 0 to node 2 never read")
