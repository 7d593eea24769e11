"""Commands, answers and addresses of the switch: the one place where a code or a bit position is written."""

from __future__ import annotations

from enum import IntEnum

from .shape import COMMAND_WIDTH, SwitchShape

OPCODE = (0, 4)
"""First bit and length of the opcode."""
MODE = (4, 4)
"""First bit and length of the field *mode*."""
X = (8, 8)
"""First bit and length of the field *x*."""
Y = (16, 8)
"""First bit and length of the field *y*."""
LONG = (8, 16)
"""First bit and length of *x* and *y* as one number, *y* above."""

assert Y[0] + Y[1] == COMMAND_WIDTH


class Command(IntEnum):
    """What a processor may ask of the scheduler. ::

        bit   23       16 15        8 7      4 3      0
             +-----------+-----------+--------+--------+
             |     y     |     x     |  mode  | opcode |
             +-----------+-----------+--------+--------+

    Fields that a command does not name are ignored.
    """

    NOP = 0
    """Nothing."""
    STAGE = 1
    """Put connection *x* → *y* into the configuration being made; with *y* = `NOWHERE` name row *x*, which is to be
    empty. Refused, and the configuration broken, if row *x* has been named or *y* is in use. Until LOAD, STORE or CLEAR the
    configuration belongs to the processor that began it; the others' commands that need it wait."""
    CLEAR = 2
    """Give up the configuration being made."""
    LOAD = 3
    """Preload slot *x* with the configuration made. Bit 0 of *mode*: only the rows named are replaced, otherwise all.
    Connections in other rows that are not preloaded give way. Refused if other rows have a destination preloaded."""
    EVICT = 4
    """Empty slot *x*, preloaded and other connections."""
    STORE = 5
    """Put the configuration made into place *x* of the second level; *mode* as in LOAD."""
    SWAP = 6
    """LOAD slot *x* from place *y* of the second level, and keep there what was preloaded in the same rows."""
    FLUSH = 7
    """Bit 0 of *mode* is 0: clear all latches and holds; release all connections that are not preloaded, and bring back
    all that are. 1: clear latches and holds of this processor, and release its connections that are not preloaded."""
    HOLD = 8
    """Keep the request for destination *x*, whatever is in its queue."""
    RELEASE = 9
    """Clear hold and latch of destination *x*."""
    PREDICT = 10
    """How requests are latched, for all connections: *mode* is a `Predictor`, *x* and *y* together its threshold."""
    SLOT = 11
    """What slot *x* is for: bit 0 of *mode*: dynamic connections; bit 1: preloaded connections give way to dynamic ones while
    they are not requested."""
    WIDEN = 12
    """Let the connection to destination *x* have further slots (bit 0 of *mode* is 1) or one (0)."""
    WHERE = 13
    """Answer in how many slots the connection to destination *x* is realised."""
    DEGREE = 14
    """Answer how many slots have connections."""


NOWHERE = 255
"""In place of a destination: none."""


class Predictor(IntEnum):
    """Which requests stay when their queues are empty (Ding et al. 2005, §3.2)."""

    NONE = 0
    """None."""
    KEEP = 1
    """All, until they are released or flushed."""
    TIMEOUT = 2
    """Until nothing has been sent or requested for so many cycles."""
    COUNTER = 3
    """Until words have been sent on other connections, and none on this, in so many cycles."""


class Answer(IntEnum):
    """Low four bits of an answer. Above them stands the number asked for, or the opcode of the refused command."""

    VALUE = 0
    CONFLICT = 1
    """A port is in the configuration already."""
    RANGE = 2
    """There is no such port, slot or place, or the threshold is 0 or too large."""
    BROKEN = 3
    """The configuration was refused, or nobody has begun one."""
    UNKNOWN = 4
    """There is no such command or predictor."""


class Registers:
    """Addresses at the processor port of a network interface, and what their full bits say.

    ========================== ============================== ======================================================
    address                    write                          full bit
    ========================== ============================== ======================================================
    ``queue(v)`` = v           a word for destination v       its queue has no room
    ``buffer(u)`` = N + u      – (read: a word from source u)  there is a word from source u
    ``command`` = 2N           a command                      the last one has not been carried out
    ``answer`` = 2N + 1        – (read: an answer)            there is an answer
    ``unsent`` = 2N + 2        –                              words are in queues or on their way out
    ========================== ============================== ======================================================
    """

    def __init__(self, shape: SwitchShape) -> None:
        self.command = 2 * shape.ports
        self.answer = self.command + 1
        self.unsent = self.command + 2
        self._ports = shape.ports

    def queue(self, destination: int) -> int:
        """Written to send a word."""
        return destination

    def buffer(self, source: int) -> int:
        """Read to receive a word."""
        return self._ports + source


def encode(command: Command, *, x: int = 0, y: int = 0, mode: int = 0) -> int:
    """A command as a word."""
    return command | mode << MODE[0] | x << X[0] | y << Y[0]


def encode_predictor(predictor: Predictor, threshold: int = 0) -> int:
    """A PREDICT command as a word."""
    return Command.PREDICT | predictor << MODE[0] | threshold << LONG[0]


def decode_answer(word: int) -> tuple[Answer, int]:
    """Kind and value of an answer."""
    return Answer(word & 15), word >> 4
