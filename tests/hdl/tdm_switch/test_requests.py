from numesh.trace import Sample, record
from tdm_switch.codes import Predictor
from tdm_switch.requests import Requests
from tdm_switch.shape import SwitchShape

SHAPE = SwitchShape(ports=2, age_bits=5)


def run(predictor: Predictor, cycles: int, used: dict[int, int]) -> list[Sample]:
    """Connection (0, 1) is requested in cycle 2."""

    def drive(cycle: int, before: object) -> dict[str, int]:
        choice = {"predict": int(cycle == 0), "predictor": int(predictor), "threshold": 6}
        return choice | {"request": 0b0010 * (cycle == 2), "used": used.get(cycle, 0)}

    return record(Requests(shape=SHAPE), cycles, drive)


def wanted(samples: list[Sample]) -> list[int]:
    """Cycles in which connection (0, 1) is wanted."""
    return [cycle for cycle, s in enumerate(samples) if s["wanted"] & 0b0010]


def test_without_a_predictor_only_the_request_counts() -> None:
    assert wanted(run(Predictor.NONE, 10, {})) == [2]


def test_kept_latch_stays() -> None:
    assert wanted(run(Predictor.KEEP, 30, {})) == list(range(2, 30))


def test_time_out_counts_from_the_last_use() -> None:
    assert wanted(run(Predictor.TIMEOUT, 30, {})) == list(range(2, 9))
    assert wanted(run(Predictor.TIMEOUT, 30, {7: 0b0010})) == list(range(2, 14))


def test_counter_counts_only_cycles_in_which_others_send() -> None:
    assert wanted(run(Predictor.COUNTER, 40, {})) == list(range(2, 40)), "a time of computing"
    others = dict.fromkeys((10, 12, 14, 16, 18, 20), 8)
    assert wanted(run(Predictor.COUNTER, 40, others)) == list(range(2, 21))
    assert wanted(run(Predictor.COUNTER, 40, others | {19: 0b0010})) == list(range(2, 40)), "used in between"
