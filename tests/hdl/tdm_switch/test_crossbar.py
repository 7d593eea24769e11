from itertools import permutations

from cosim.tdm.scheduler_model import bits_of
from numesh.trace import record
from tdm_switch.crossbar import Crossbar
from tdm_switch.shape import SwitchShape


def test_every_permutation_carries_words_and_the_way_back() -> None:
    n = 3
    settings = [
        {(u, v) for u, v in enumerate(order) if u != missing}
        for order in permutations(range(n))
        for missing in range(n)
    ]

    def drive(cycle: int, before: object) -> dict[str, int]:
        inputs = {f"in_valid_{u}": 1 for u in range(n)} | {f"in_data_{u}": 100 + u for u in range(n)}
        matrix = bits_of(settings[cycle], n)
        return inputs | {"fabric": matrix, "back": matrix, "back_in": 0b101}

    samples = record(Crossbar(shape=SwitchShape(ports=n)), len(settings), drive)
    for sample, setting in zip(samples, settings, strict=True):
        source = {v: u for u, v in setting}
        for v in range(n):
            assert sample[f"out_valid_{v}"] == (v in source)
            if v in source:
                assert sample[f"out_data_{v}"] == 100 + source[v]
        assert sample["back_out"] == sum(1 << u for u, v in setting if v in (0, 2))
