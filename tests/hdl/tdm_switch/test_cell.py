"""The cell against the table of the paper, with its misprints corrected (Ding et al. 2005, Table 2)."""

from itertools import product

import pytest

from numesh.trace import record
from tdm_switch.cell import Cell

TABLE_2 = {
    # L, A, D, B(s): T, A', D'
    (1, 1, 1, 1): (1, 0, 0),  # release
    (1, 1, 1, 0): (0, 1, 1),  # both ports busy, which the table takes for a release
    (1, 1, 0, 0): (0, 1, 0),
    (1, 0, 1, 0): (0, 0, 1),
    (1, 0, 0, 0): (1, 1, 1),  # establish
}


@pytest.mark.parametrize("inputs", list(product((0, 1), repeat=4)))
def test_cell_does_what_table_2_says(inputs: tuple[int, int, int, int]) -> None:
    change, a, d, b = inputs
    if b and not (a and d):
        return  # a realised connection has its ports
    (sample,) = record(Cell(), 1, lambda cycle, before: {"l": change, "a": a, "d": d, "b": b})
    expected = TABLE_2[inputs] if change else (0, a, d)
    assert (sample["t"], sample["a_next"], sample["d_next"]) == expected
