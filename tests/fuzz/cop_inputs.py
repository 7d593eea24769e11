"""Inputs for the soak and the checks that each must pass: a program that prints back, or an error that prints."""

from __future__ import annotations

import random

from cop_grammar import random_program

from pointsman.cop import CopError, Limits, compile_text, program_to_cop
from pointsman.cop.compile import FORMS, prelude
from pointsman.cop.evaluation.geometry import NETWORK_VARIABLES
from pointsman.network import Topology, graph, mesh, torus
from pointsman.plan.structure.structure import outline

SMALL = Limits(
    text=20_000,
    forms=5000,
    steps=1000,
    depth=300,
    list_length=500,
    cells=5000,
    number_bits=256,
    operators=300,
    nesting=20,
    output=100_000,
)
NETWORKS: list[Topology] = [
    *[mesh(4, 4)] * 4,
    mesh(1),
    mesh(5),
    mesh(2, 3),
    mesh(2, 2, 2),
    torus(3, 3),
    graph(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]),
]
WORDS = [
    *sorted(FORMS),
    *sorted(prelude()[1].values),
    *NETWORK_VARIABLES,
    *["(", ")", "'", "()", "nil", "t", '"', ";", ":m", ":c", ":b", ":type", ":valid", ":values", ":dynamic", ":impl"],
    *["0", "-1", "1/2", "99", "1e9", "x", "#t", ".", "`", ",", ",@", "|", "\0", "\u2019", "\n", "\ufeff", "&rest"],
    *["(runtime)", "'((0 1) (2 3))", "9" * 90, "\U0001f600", ";/*\n", "*/", "\\", '"\\n"', "1e-99"],
]
KINDS = ("grammar", "mutated", "words", "characters")


def make_input(rng: random.Random) -> tuple[str, str]:
    """A text and the sort of its making."""
    kind = rng.choices(KINDS, (30, 35, 20, 15))[0]
    if kind == "grammar":
        return random_program(rng, rng.choice((2, 6, 15))), kind
    if kind == "mutated":
        text = random_program(rng, 6)
        for _ in range(rng.randint(1, 4)):
            text = _mutate(rng, text)
        return text, kind
    if kind == "words":
        return " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 25))), kind
    top = rng.choice((128, 256, 0x3000, 0x11_0000))
    return "".join(chr(rng.randrange(top)) for _ in range(rng.randint(0, 60))), kind


def _mutate(rng: random.Random, text: str) -> str:
    at = rng.randrange(len(text) + 1)
    end = min(len(text), at + rng.randint(1, 12))
    kind = rng.randrange(6)
    if kind == 0:
        return text[:at] + text[end:]
    if kind == 1:
        return text[:at] + rng.choice(WORDS) + text[at:]
    if kind == 2:
        return text[:at] + text[at:end] * rng.randint(2, 4) + text[end:]
    if kind == 3:
        return text[:at] + chr(rng.choice([rng.randrange(128), rng.randrange(0x3000), 0x1F600])) + text[at:]
    words = text.split(" ")
    place = rng.randrange(len(words))
    words[place] = rng.choice(WORDS) if kind == 4 else words[rng.randrange(len(words))]
    return " ".join(words)


def check(text: str, topology: Topology, limits: Limits = SMALL) -> str:
    """Compile, print, read back. Gives "program", "error" or "limit"; raises if a promise is broken."""
    try:
        program = compile_text(text, topology=topology, limits=limits)
        printed = program_to_cop(program, limits)
    except CopError as error:
        rendered = str(error)
        assert rendered.startswith(("<cop>:", "<program>:")), rendered
        assert all(line.isprintable() for line in rendered.split("\n")), rendered
        assert len(rendered) < 40_000, len(rendered)
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for one in error.errors:
            assert 1 <= one.position.line <= len(lines), one.position
            assert 1 <= one.position.column <= len(lines[one.position.line - 1]) + 2, one.position
        return "limit" if getattr(error, "limit", "") else "error"
    again = compile_text(printed, topology=program.topology)
    assert again == program, printed
    assert hash(again.root) == hash(program.root)
    assert program.traffic() == again.traffic()
    assert len(outline(program).phases) >= 1
    return "program"
