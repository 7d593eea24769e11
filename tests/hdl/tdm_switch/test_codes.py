from tdm_switch.address_map import address_map
from tdm_switch.codes import Answer, Command, Predictor, Registers, decode_answer, encode, encode_predictor
from tdm_switch.shape import COMMAND_WIDTH, SwitchShape


def test_fields_do_not_overlap_and_fill_the_command() -> None:
    word = encode(Command.DEGREE, x=255, y=255, mode=15)
    assert word == (1 << COMMAND_WIDTH) - 16 + Command.DEGREE
    assert encode(Command.STAGE, x=3, y=5) == 0x050301
    assert encode_predictor(Predictor.TIMEOUT, 0xABCD) == 0xABCD2A


def test_answers_name_kind_and_value() -> None:
    assert decode_answer(0x31) == (Answer.CONFLICT, Command.LOAD)
    assert decode_answer(0x70) == (Answer.VALUE, 7)


def test_addresses_are_all_different() -> None:
    shape = SwitchShape(ports=5)
    registers = Registers(shape)
    numbers = [registers.queue(v) for v in range(5)] + [registers.buffer(u) for u in range(5)]
    assert sorted([*numbers, registers.command, registers.answer, registers.unsent]) == list(range(shape.registers))


def test_the_address_map_tells_the_same() -> None:
    told = address_map(SwitchShape(ports=4))
    assert told["addresses"]["buffers"] == [4, 5, 6, 7]
    assert told["commands"]["SWAP"] == Command.SWAP
    assert told["command_fields"]["y"] == {"bit": 16, "bits": 8}
