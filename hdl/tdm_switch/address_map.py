"""What a program needs to drive a switch, as plain data: addresses of the processor port, commands, answers."""

from __future__ import annotations

from typing import Any

from .codes import LONG, MODE, NOWHERE, OPCODE, Answer, Command, Predictor, Registers, X, Y
from .shape import SwitchShape


def address_map(shape: SwitchShape) -> dict[str, Any]:
    """Addresses and codes of a switch."""
    registers = Registers(shape)
    fields = {"opcode": OPCODE, "mode": MODE, "x": X, "y": Y, "threshold": LONG}
    return {
        "shape": shape.as_dict(),
        "addresses": {
            "queues": [registers.queue(v) for v in range(shape.ports)],
            "buffers": [registers.buffer(u) for u in range(shape.ports)],
            "command": registers.command,
            "answer": registers.answer,
            "unsent": registers.unsent,
        },
        "command_fields": {name: {"bit": bit, "bits": bits} for name, (bit, bits) in fields.items()},
        "commands": {command.name: int(command) for command in Command},
        "nowhere": NOWHERE,
        "predictors": {predictor.name: int(predictor) for predictor in Predictor},
        "answers": {answer.name: int(answer) for answer in Answer},
    }
