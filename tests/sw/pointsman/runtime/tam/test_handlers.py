"""Handlers of TAM: what is wrong with a message is told with who sent it."""

from __future__ import annotations

import pytest

from pointsman.runtime.tam import TamError, assemble
from pointsman.runtime.tam.costs import Costs
from pointsman.runtime.tam.handlers import tam_handlers
from pointsman.runtime.tam.processor import Processor
from pointsman.runtime.tam.values import packed


@pytest.mark.parametrize(
    ("name", "arguments", "data", "said"),
    [
        ("message", (3, 0, 0), [1], "frame 3 on node 1 is sent a message, and there is none"),
        ("message", (0, 9, 0), [1], "code-block main has no inlet 9, to which a message came"),
        ("message", (0, 0, 0), [], "inlet main.start receives 1 values, and 0 came"),
        ("fetched", (3, 0, 0), [1], "frame 3 on node 1 is answered, and there is none"),
        ("fetch", (9, 0, 0, 0), [], "a structure on node 1 is fetched that is not there"),
        ("store", (1, 4, 0), [1], "element 4 of a structure on node 1 is written; it has 4 elements"),
        ("ffree", (3,), [], "frame 3 on node 1 is freed, and there is none"),
        ("ifree", (9,), [], "a structure on node 1 is freed that is not there"),
        ("answer", (3, 0, 0), [1], "frame 3 on node 1 is sent a message, and there is none"),
    ],
)
def test_a_wrong_message_is_an_error_that_names_sender_and_receiver(
    name: str, arguments: tuple[int, ...], data: list[int], said: str
) -> None:
    program = assemble("codeblock main\n slots a\n inlet start a\n  post go\n thread go\n  halt a\n")
    processor = Processor(program, 1, 2, Costs())
    processor.frames.allocate(0)
    processor.heap.allocate(4)
    handlers = tam_handlers()
    with pytest.raises(TamError) as caught:
        handlers.functions[handlers.number[name]](processor, 0, arguments, packed(list(data))[1])
    assert caught.value.message == f"node 1, '{name}' of node 0: {said}"
