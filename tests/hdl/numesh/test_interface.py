from numesh.interface import InterfaceRegisters
from numesh.shape import NodeShape
from numesh.trace import Sample, record

SHAPE = NodeShape(pipelines=2, registers=4, width=16)
Inputs = dict[str, int]


def run(cycles: int, inputs: dict[int, Inputs], shape: NodeShape = SHAPE) -> list[Sample]:
    """Registers are named two cycles before they are asked for, so the record starts two cycles early."""

    def asked(name: str) -> bool:
        return not name.endswith(".number")

    def drive(cycle: int, before: object) -> dict[str, int]:
        values = {name: value for name, value in inputs.get(cycle - 2, {}).items() if asked(name)}
        return values | {name: value for name, value in inputs.get(cycle, {}).items() if not asked(name)}

    return record(InterfaceRegisters(shape=shape), cycles + 2, drive)[2:]


def p_write(register: int, word: int) -> Inputs:
    return {"p_write": 1, "p_address": register, "p_write_data": word}


def p_read(register: int) -> Inputs:
    return {"p_read": 1, "p_address": register}


def write(pipeline: int, register: int, word: int, *, blind: bool = False) -> Inputs:
    names = {"request": 1, "number": register, "data": word, "blind": int(blind)}
    return {f"write_{pipeline}.{name}": value for name, value in names.items()}


def read(pipeline: int, register: int, *, keep: bool = False) -> Inputs:
    names = {"request": 1, "number": register, "keep": int(keep)}
    return {f"read_{pipeline}.{name}": value for name, value in names.items()}


def test_processor_word_is_full_one_cycle_later_and_read_by_the_router() -> None:
    samples = run(5, {0: p_write(2, 0xBEEF), 1: read(0, 2), 2: read(0, 2)})
    assert [s["p_full"] for s in samples] == [0, 0b0100, 0, 0, 0]
    assert (samples[1]["read_0.taken"], samples[1]["read_0.data"]) == (1, 0xBEEF)
    assert samples[2]["read_0.taken"] == 0


def test_router_word_is_full_one_cycle_later_and_read_by_the_processor() -> None:
    samples = run(6, {0: write(1, 3, 0xCAFE), 1: p_read(3), 2: p_read(3), 4: write(0, 3, 0x1111)})
    assert samples[0]["write_1.ok"] == 1
    assert [s["p_full"] for s in samples] == [0, 0b1000, 0, 0, 0, 0b1000]
    assert [s["p_read_data"] for s in samples] == [0, 0, 0xCAFE, 0xCAFE, 0xCAFE, 0xCAFE]


def test_processor_write_to_a_full_register_does_nothing() -> None:
    samples = run(5, {0: p_write(1, 0xAAAA), 1: p_write(1, 0xBBBB), 2: p_read(1)})
    assert [s["p_full"] for s in samples] == [0, 0b10, 0b10, 0, 0]
    assert samples[3]["p_read_data"] == 0xAAAA


def test_processor_read_of_an_empty_register_shows_the_word_written_last() -> None:
    samples = run(5, {0: p_write(1, 0xAAAA), 1: p_read(1), 2: p_read(0), 3: p_read(1)})
    assert [s["p_full"] for s in samples] == [0, 0b10, 0, 0, 0]
    assert [s["p_read_data"] for s in samples] == [0, 0, 0xAAAA, 0, 0xAAAA]


def test_register_can_be_filled_each_second_cycle_by_one_side_and_emptied_by_the_other() -> None:
    inputs = {c: p_write(0, c) if c % 2 == 0 else read(1, 0) for c in range(10)}
    samples = run(10, inputs)
    assert [s["p_full"] for s in samples] == [0, 1] * 5
    assert [s["read_1.data"] for s in samples if s["read_1.taken"]] == [0, 2, 4, 6, 8]


def test_copy_leaves_the_register_full() -> None:
    samples = run(5, {0: p_write(0, 7), 1: read(0, 0, keep=True), 2: read(0, 0, keep=True), 3: read(0, 0)})
    assert [s["p_full"] for s in samples] == [0, 1, 1, 1, 0]
    assert [s["read_0.taken"] for s in samples] == [0, 1, 1, 1, 0]
    assert [s["read_0.data"] for s in samples[1:4]] == [7, 7, 7]


def test_router_write_to_a_full_register_is_refused() -> None:
    samples = run(4, {0: p_write(2, 1), 1: write(0, 2, 2), 2: p_read(2)})
    assert samples[1]["write_0.ok"] == 0
    assert samples[3]["p_read_data"] == 1


def test_blind_write_overwrites_a_full_register() -> None:
    samples = run(4, {0: p_write(2, 1), 1: write(0, 2, 2, blind=True), 2: p_read(2)})
    assert samples[1]["write_0.ok"] == 1
    assert [s["p_full"] for s in samples] == [0, 4, 4, 0]
    assert samples[3]["p_read_data"] == 2


def test_blind_write_in_the_cycle_of_a_read_leaves_the_new_word_and_gives_the_old() -> None:
    samples = run(5, {0: p_write(2, 1), 1: {**write(0, 2, 2, blind=True), **p_read(2)}, 3: p_read(2)})
    assert [s["p_full"] for s in samples] == [0, 4, 4, 4, 0]
    assert (samples[2]["p_read_data"], samples[4]["p_read_data"]) == (1, 2)
    by_router = run(5, {0: p_write(2, 1), 1: {**write(1, 2, 2, blind=True), **read(0, 2)}, 3: p_read(2)})
    assert by_router[1]["read_0.data"] == 1
    assert [s["p_full"] for s in by_router] == [0, 4, 4, 4, 0]
    assert by_router[4]["p_read_data"] == 2


def test_processor_comes_before_the_router_when_both_read() -> None:
    samples = run(4, {0: p_write(1, 9), 1: {**p_read(1), **read(0, 1), **read(1, 1, keep=True)}})
    assert samples[1]["read_0.taken"] == samples[1]["read_1.taken"] == 0
    assert samples[2]["p_read_data"] == 9


def test_processor_comes_before_the_router_when_both_write() -> None:
    samples = run(3, {0: {**p_write(1, 9), **write(0, 1, 8), **write(1, 1, 7, blind=True)}, 1: p_read(1)})
    assert samples[0]["write_0.ok"] == samples[0]["write_1.ok"] == 0
    assert samples[2]["p_read_data"] == 9


def test_processor_write_that_does_nothing_stops_nobody() -> None:
    samples = run(4, {0: p_write(1, 9), 1: {**p_write(1, 5), **write(0, 1, 8, blind=True)}, 2: p_read(1)})
    assert samples[1]["write_0.ok"] == 1
    assert samples[3]["p_read_data"] == 8


def test_lower_pipeline_comes_first() -> None:
    reads = run(3, {0: p_write(1, 9), 1: {**read(0, 1), **read(1, 1)}})
    assert (reads[1]["read_0.taken"], reads[1]["read_1.taken"]) == (1, 0)
    copies = run(4, {0: p_write(1, 9), 1: {**read(0, 1, keep=True), **read(1, 1)}, 2: read(1, 1)})
    assert (copies[1]["read_0.taken"], copies[1]["read_1.taken"]) == (1, 0)
    assert copies[2]["read_1.taken"] == 1
    writes = run(3, {0: {**write(0, 1, 5), **write(1, 1, 6, blind=True)}, 1: p_read(1)})
    assert (writes[0]["write_0.ok"], writes[0]["write_1.ok"]) == (1, 0)
    assert writes[2]["p_read_data"] == 5


def test_refused_lower_pipeline_does_not_stop_a_blind_higher_one() -> None:
    samples = run(4, {0: p_write(1, 9), 1: {**write(0, 1, 5), **write(1, 1, 6, blind=True)}, 2: p_read(1)})
    assert (samples[1]["write_0.ok"], samples[1]["write_1.ok"]) == (0, 1)
    assert samples[3]["p_read_data"] == 6


def test_accesses_to_different_registers_all_succeed_in_one_cycle() -> None:
    shape = NodeShape(pipelines=3, registers=8, width=16)
    fill = {c: p_write(c, 0x100 + c) for c in range(4)}
    together = {**p_read(3), **read(0, 0), **read(1, 1), **read(2, 2)}
    together |= {**write(0, 5, 0x205), **write(1, 6, 0x206), **write(2, 7, 0x207)}
    drain = {6 + r: p_read(5 + r) for r in range(3)}
    samples = run(10, {**fill, 4: together, **drain}, shape)
    assert [samples[4][f"read_{p}.taken"] for p in range(3)] == [1, 1, 1]
    assert [samples[4][f"read_{p}.data"] for p in range(3)] == [0x100, 0x101, 0x102]
    assert [samples[4][f"write_{p}.ok"] for p in range(3)] == [1, 1, 1]
    assert samples[5]["p_full"] == 0b1110_0000
    assert samples[5]["p_read_data"] == 0x103
    assert [s["p_read_data"] for s in samples[7:10]] == [0x205, 0x206, 0x207]


def test_word_is_the_one_written_last_whoever_wrote_it() -> None:
    inputs = {0: p_write(0, 1), 1: p_read(0), 2: write(0, 0, 2), 3: p_read(0), 4: write(1, 0, 3), 5: p_read(0)}
    inputs |= {6: write(0, 0, 4), 7: p_read(0), 8: p_write(0, 5), 9: p_read(0)}
    assert [s["p_read_data"] for s in run(11, inputs)[2::2]] == [1, 2, 3, 4, 5]


def test_numbers_without_a_register_do_nothing() -> None:
    shape = NodeShape(pipelines=1, registers=5, width=8)
    samples = run(12, {r: p_write(r, r) for r in range(5, 8)} | {3 + r: p_read(r) for r in range(5, 8)}, shape)
    assert all(s["p_full"] == 0 and s["p_read_data"] == 0 for s in samples)
    single = NodeShape(pipelines=1, vfsms=2, schedule_depth=2, neighbours=1, registers=1, width=1)
    assert [s["p_full"] for s in run(4, {0: p_write(1, 1), 1: p_write(0, 1)}, single)] == [0, 0, 1, 1]
