"""What a run sends, against the count of elements while the program is carried out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pointsman.arrays.analysis import derive
from pointsman.arrays.analysis.emulation import count
from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.execution import following
from pointsman.arrays.execution.following import follow, packets
from pointsman.arrays.execution.sites import find_sites
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.tree.statements import DoLoop

EXAMPLES = Path(__file__).parents[5] / "examples/arrays"
HEAD = "program p\nreal a(8), b(8), s\n!hpf$ processors q(4)\n!hpf$ distribute a(block)\n"


@pytest.mark.parametrize("name", ["elimination", "jacobi", "shallow_water", "tabulation"])
def test_as_many_elements_and_messages_as_are_counted(name: str) -> None:
    program = read_program((EXAMPLES / f"{name}.f90").read_text(), name, values={"n": 8})
    communications = derive(program)["scheduled"]
    sent = [transfers for _, transfers in follow(find_sites(communications)).messages()]
    cost = count(communications, {array: np.ones(one.shape) for array, one in program.arrays.items()})
    assert sum(map(len, sent)) == cost.messages
    assert sum(len(what) for transfers in sent for what in transfers.values()) == cost.elements


def test_redistributions_and_distributions() -> None:
    text = HEAD + "do k = 1, 3\n!hpf$ redistribute a(cyclic)\n a(1) = a(8)\n!hpf$ redistribute a(block)\nend do\nend\n"
    program = read_program(text, "p.f90")
    found = follow(find_sites(derive(program)["scheduled"]))
    assert [len(transfers) for _, transfers in found.messages()] == [6, 1, 6] * 3
    (loop,) = program.body
    assert isinstance(loop, DoLoop)
    assert [found.times[one] for one in (loop, *loop.body)] == [1, 3, 3, 3]


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_an_if_that_reads_data_is_carried_out(value: float) -> None:
    """And one that does not is decided without."""
    text = HEAD + "do k = 1, 4\n if (k > 2) then\n  if (s > 0.5) a(1) = a(8) + k\n  a(8) = a(1)\n end if\nend do\nend\n"
    sites = find_sites(derive(read_program(text, "p.f90"))["scheduled"])
    found = list(follow(sites, {"s": np.array(value)}).messages())
    assert len(found) == (4 if value else 2)
    assert all(packets(transfers) == dict.fromkeys(transfers, 1) for _, transfers in found)


def test_packets_have_four_words() -> None:
    assert packets({(0, 1): np.arange(9), (1, 0): np.arange(8)}) == {(0, 1): 3, (1, 0): 2}
    assert packets({(0, 1): np.arange(9)}, words=2) == {(0, 1): 5}


def test_runs_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "MOST_MESSAGES", 5)
    text = HEAD + "do k = 1, 8\n a(1) = a(8)\n a(8) = a(1)\nend do\nend\n"
    with pytest.raises(ArrayProgramError, match="sends more than 5 messages"):
        follow(find_sites(derive(read_program(text, "p.f90"))["scheduled"]))


def test_what_cannot_be_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    def followed(body: str) -> None:
        follow(find_sites(derive(read_program(f"{HEAD}{body}end\n", "p.f90"))["scheduled"]))

    with pytest.raises(ArrayProgramError, match="n has no value in p"):
        followed("do k = 1, n\n b(k) = 1\nend do\ndo k = 1, 4\n if (s < k) a(1) = a(8)\n a(8) = a(1)\nend do\n")
    with pytest.raises(ArrayProgramError, match="p cannot be carried out with these first values"):
        followed("do k = 1, 4\n if (1 / s > k) a(1) = a(8)\n a(8) = a(1)\nend do\n")
    monkeypatch.setattr(following, "MOST_STEPS", 50)
    with pytest.raises(ArrayProgramError, match="p has more than 50 steps around what it sends"):
        followed("do k = 1, 100\n if (k < 2) then\n  a(1) = a(8) + k\n  a(8) = a(1)\n end if\nend do\n")
