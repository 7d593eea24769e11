import itertools

from numesh.interface import InterfaceRegisters
from numesh.shape import NodeShape
from numesh.trace import Sample, record

SHAPE = NodeShape(pipelines=2, registers=4, width=16)
Inputs = dict[str, int]
EARLIER = {"number": 3, "asks": 1, "names": 1, "keep": 1}
"""Cycles before its access in which a pipeline gives these; the others belong to the access itself."""
START = 4
"""Cycle of the simulation that is cycle 0 here."""


def run(cycles: int, inputs: dict[int, Inputs], shape: NodeShape = SHAPE) -> list[Sample]:
    """What is asked for a cycle before is given for the cycle of the access; ``room`` is told a cycle before, shown with it."""

    def early(name: str) -> int:
        return EARLIER.get(name.rpartition(".")[2], 0) if "." in name else 0

    def drive(cycle: int, before: object) -> dict[str, int]:
        values: dict[str, int] = {}
        for ahead in range(4):
            given = inputs.get(cycle - START + ahead, {})
            values |= {name: value for name, value in given.items() if early(name) == ahead}
        return values

    samples = record(InterfaceRegisters(shape=shape), cycles + START, drive)

    def rooms(sample: Sample) -> Inputs:
        found: Inputs = {}
        for p in range(shape.pipelines):
            full, emptied, same, put = (sample[f"write_{p}.{name}"] for name in ("full", "emptied", "same", "put"))
            found[f"write_{p}.room"] = int(not ((full and not emptied) or (same and put)))
        return found

    shifted = [{**now, **rooms(before)} for before, now in itertools.pairwise(samples)]
    return shifted[START - 1 :]


def p_write(register: int, word: int) -> Inputs:
    return {"p_write": 1, "p_address": register, "p_write_data": word}


def p_read(register: int) -> Inputs:
    return {"p_read": 1, "p_address": register}


def write(pipeline: int, register: int, word: int, *, put: bool = True) -> Inputs:
    """A write stage puts a word into a register; it does not if the word has to stay."""
    names = {"number": register, "data": word, "put": int(put)}
    return {f"write_{pipeline}.{name}": value for name, value in names.items()}


def read(pipeline: int, register: int, *, keep: bool = False, take: bool = True) -> Inputs:
    names = {"number": register, "asks": 1, "names": 1, "keep": int(keep), "take": int(take)}
    return {f"read_{pipeline}.{name}": value for name, value in names.items()}


def look(pipeline: int, register: int) -> Inputs:
    """A write stage without a word, to see whether there is room."""
    return write(pipeline, register, 0, put=False)


def test_processor_word_is_full_one_cycle_later_and_read_by_the_router() -> None:
    samples = run(4, {0: p_write(2, 0xBEEF), 1: read(0, 2)})
    assert [s["p_full"] for s in samples] == [0, 0b0100, 0, 0]
    assert (samples[1]["read_0.found"], samples[1]["read_0.data"]) == (1, 0xBEEF)


def test_router_word_is_full_one_cycle_later_and_read_by_the_processor() -> None:
    samples = run(6, {0: write(1, 3, 0xCAFE), 1: p_read(3), 2: p_read(3), 4: write(1, 3, 0x1111)})
    assert samples[0]["write_1.room"] == 1
    assert [s["p_full"] for s in samples] == [0, 0b1000, 0, 0, 0, 0b1000]
    assert [s["p_read_data"] for s in samples] == [0, 0, 0xCAFE, 0xCAFE, 0xCAFE, 0xCAFE]


def test_processor_write_to_a_full_place_takes_the_place_of_its_word() -> None:
    samples = run(5, {0: p_write(1, 0xAAAA), 1: p_write(1, 0xBBBB), 2: read(1, 1)})
    assert [s["p_full"] for s in samples] == [0, 0b10, 0b10, 0, 0]
    assert samples[2]["read_1.data"] == 0xBBBB


def test_processor_read_of_a_register_without_a_word_shows_what_the_highest_pipeline_wrote_last() -> None:
    samples = run(7, {0: write(1, 1, 0xAAAA), 1: p_read(1), 3: p_read(0), 4: p_read(1)})
    assert [s["p_read_data"] for s in samples] == [0, 0, 0xAAAA, 0xAAAA, 0, 0xAAAA, 0xAAAA]


def test_processor_does_not_take_its_own_word() -> None:
    samples = run(4, {0: p_write(1, 0xAAAA), 1: p_read(1)})
    assert [s["p_full"] for s in samples] == [0, 2, 2, 2]


def test_register_can_be_filled_each_second_cycle_by_one_side_and_emptied_by_the_other() -> None:
    inputs = {c: p_write(0, c) if c % 2 == 0 else read(1, 0) for c in range(10)}
    samples = run(10, inputs)
    assert [s["p_full"] for s in samples] == [0, 1] * 5
    assert [s["read_1.data"] for s in samples if s["read_1.found"]] == [0, 2, 4, 6, 8]
    inputs = {c: write(1, 0, c) if c % 2 == 0 else p_read(0) for c in range(10)}
    samples = run(11, inputs)
    assert all(samples[c]["write_1.room"] for c in range(0, 10, 2))
    assert [samples[c]["p_read_data"] for c in range(2, 11, 2)] == [0, 2, 4, 6, 8]


def test_copy_leaves_the_register_full() -> None:
    samples = run(7, {0: p_write(0, 7), 1: read(0, 0, keep=True), 3: read(0, 0, keep=True), 5: read(0, 0)})
    assert [s["p_full"] for s in samples] == [0, 1, 1, 1, 1, 1, 0]
    assert [samples[c]["read_0.data"] for c in (1, 3, 5)] == [7, 7, 7]


def test_word_that_is_found_and_not_taken_stays() -> None:
    samples = run(5, {0: p_write(0, 7), 1: read(0, 0, take=False), 3: read(0, 0)})
    assert [s["p_full"] for s in samples] == [0, 1, 1, 1, 0]
    assert samples[3]["read_0.data"] == 7


def test_after_a_pipeline_has_found_a_word_the_next_cycle_finds_none_there() -> None:
    for second in (0, 1):
        samples = run(6, {0: p_write(0, 7), 3: read(0, 0, take=False), 4: read(second, 0)})
        assert (samples[3]["read_0.found"], samples[4][f"read_{second}.found"]) == (1, 0)


def test_word_of_a_pipeline_is_found_by_pipelines_three_cycles_after_it_is_put_there() -> None:
    for reader in (0, 1):
        found = [run(8, {0: write(0, 2, 9), d: read(reader, 2)})[d][f"read_{reader}.found"] for d in range(1, 6)]
        assert found == [0, 0, 1, 1, 1]


def test_place_that_a_pipeline_has_emptied_is_found_empty_three_cycles_later() -> None:
    taken = {0: write(0, 2, 9), 4: read(1, 2)}
    rooms = [run(12, {**taken, 4 + d: look(0, 2)})[4 + d]["write_0.room"] for d in range(1, 6)]
    assert rooms == [0, 0, 1, 1, 1]


def test_place_that_the_processor_empties_is_empty_at_once() -> None:
    for p in (0, 1):
        assert run(8, {0: write(p, 2, 9), 3: p_read(2), 4: look(p, 2)})[4][f"write_{p}.room"] == 1
        assert run(8, {0: write(p, 2, 9), 3: look(p, 2)})[3][f"write_{p}.room"] == 0


def test_place_of_a_higher_pipeline_is_full_until_the_processor_has_taken_its_word() -> None:
    both = {0: {**write(0, 2, 5), **write(1, 2, 6)}, 2: p_read(2)}
    samples = run(8, {**both, 3: look(1, 2)})
    assert (samples[3]["p_read_data"], samples[3]["write_1.room"]) == (5, 0)
    samples = run(8, {**both, 4: p_read(2), 5: look(1, 2)})
    assert (samples[5]["p_read_data"], samples[5]["write_1.room"]) == (6, 1)


def test_writers_do_not_meet_in_a_register() -> None:
    together = {**p_write(1, 9), **write(0, 1, 5), **write(1, 1, 6)}
    samples = run(15, {0: together, 4: read(0, 1), 7: read(1, 1), 10: read(0, 1), 13: read(0, 1)})
    assert [samples[c]["p_full"] for c in (0, 1, 4, 10, 11)] == [0, 2, 2, 2, 0]
    assert [samples[c][f"read_{p}.data"] for c, p in ((4, 0), (7, 1), (10, 0))] == [5, 6, 9]
    assert samples[13]["read_0.found"] == 0
    samples = run(6, {0: together, 1: p_read(1), 2: p_read(1), 3: p_read(1)})
    assert [samples[c]["p_read_data"] for c in (2, 3)] == [5, 6]
    assert samples[5]["p_full"] == 2


def test_word_put_over_another_takes_its_place() -> None:
    samples = run(6, {0: write(0, 1, 5), 1: write(0, 1, 6), 2: p_read(1)})
    assert samples[1]["write_0.room"] == 0
    assert [s["p_full"] for s in samples] == [0, 2, 2, 0, 0, 0]
    assert samples[3]["p_read_data"] == 6


def test_accesses_to_different_registers_all_succeed_in_one_cycle() -> None:
    shape = NodeShape(pipelines=3, registers=8, width=16)
    fill = {c: p_write(c, 0x100 + c) for c in range(3)}
    together = {**p_write(3, 0x103), **read(0, 0), **read(1, 1), **read(2, 2)}
    together |= {**write(0, 5, 0x205), **write(1, 6, 0x206), **write(2, 7, 0x207)}
    drain = {6 + r: p_read(5 + r) for r in range(3)}
    samples = run(10, {**fill, 4: together, **drain}, shape)
    assert [samples[4][f"read_{p}.data"] for p in range(3)] == [0x100, 0x101, 0x102]
    assert samples[5]["p_full"] == 0b1110_1000
    assert [s["p_read_data"] for s in samples[7:10]] == [0x205, 0x206, 0x207]


def test_numbers_without_a_register_do_nothing() -> None:
    shape = NodeShape(pipelines=1, registers=5, width=8)
    samples = run(12, {r: p_write(r, r) for r in range(5, 8)} | {3 + r: p_read(r) for r in range(5, 8)}, shape)
    assert all(s["p_full"] == 0 and s["p_read_data"] == 0 for s in samples)
    single = NodeShape(pipelines=1, vfsms=2, schedule_depth=2, neighbours=1, registers=1, width=1)
    assert [s["p_full"] for s in run(4, {0: p_write(1, 1), 1: p_write(0, 1)}, single)] == [0, 0, 1, 1]
