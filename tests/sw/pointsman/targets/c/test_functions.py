"""The header: a function for each thing that an application may do with an operator, of the right type."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan.make_plan import make_plan
from pointsman.targets.c.entries import NotInCError, entries_of
from pointsman.targets.c.functions import functions_header
from pointsman.targets.c.implementations import implementations_in_c
from pointsman.targets.numesh import make_images


def header(text: str, *size: int) -> str:
    program, shape = compile_text(text, topology=mesh(*size)), NodeShape()
    able = implementations_in_c(program, Context(program.topology, shape), IMPLEMENTATIONS)
    images = make_images(make_plan(program, shape, name="program", implementations=able))
    return functions_header(images, entries_of(images), "program")


def test_functions_follow_the_kind_and_type_of_the_operator():
    text = header("(loop 'l 2 (broadcast 'b (runtime) :m 3) (cshift 'c 1 :type 'float64) (barrier 'e))", 2, 1)
    for line in (
        "void l_load(struct pm *cop)",
        "void b_load(struct pm *cop, int32_t source)",
        "void b_write(struct pm *cop, const int32_t *message)",
        "int b_read(struct pm *cop, int32_t *message)",
        "double c_func(struct pm *cop, double value)",
        "void e_func(struct pm *cop)",
    ):
        assert f"static inline {line}\n" in text
    assert "b_func" not in text
    assert "c_read" not in text


def test_functions_that_combine_are_built_in_or_the_applications():
    text = header("(sequential (allreduce 's 'add :m 4) (allreduce 't 'mine :m 4) (allreduce 'u 'add :m 4))", 2, 1)
    assert text.count("static inline void pm_add_int32(") == 1
    assert "(int32_t)((uint32_t)x.v + (uint32_t)y.v)" in text  # as the words of Python's run wrap
    assert "void mine_int32s(const int32_t *a, const int32_t *b, int32_t *out, uint32_t items);" in text
    assert (
        "pm_func(cop, 1, (const pm_word *)(const void *)message, (pm_word *)(void *)received, pm_mine_int32s);" in text
    )


def test_bits_of_floats_are_not_combined():
    with pytest.raises(NotInCError, match="operator 's' cannot combine float32 items with xor"):
        header("(allreduce 's 'xor :type 'float32* :m 4)", 2, 1)
