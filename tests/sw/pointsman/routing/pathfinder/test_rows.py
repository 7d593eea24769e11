"""Lists of lists as flat arrays."""

from __future__ import annotations

import numpy as np

from pointsman.routing.pathfinder.rows import first_rows, grouped


def test_nothing_has_one_row_number() -> None:
    assert first_rows([]).tolist() == [0]


def test_items_of_a_key_stay_in_order_and_keys_without_items_have_none() -> None:
    keys = np.random.default_rng(1).integers(0, 5, 30).astype(np.int32)
    keys[keys == 3] = 4
    first, items = grouped(keys, 6)
    for key in range(6):
        assert items[first[key] : first[key + 1]].tolist() == [i for i, k in enumerate(keys.tolist()) if k == key]
