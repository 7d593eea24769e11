"""Words of programs' arrays, at addresses: Numba knows no array whose type is known only when the request comes."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic


def _typed_load(typing_context: Any, address: Any, four: Any) -> Any:
    """Word at an address, of 4 or 8 bytes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        where, is_four = arguments
        with builder.if_else(is_four) as (then, otherwise):
            with then:
                small = builder.load(builder.inttoptr(where, ir.IntType(32).as_pointer()))
                small = builder.zext(small, ir.IntType(64))
                small_block = builder.block
            with otherwise:
                large = builder.load(builder.inttoptr(where, ir.IntType(64).as_pointer()))
                large_block = builder.block
        result = builder.phi(ir.IntType(64))
        result.add_incoming(small, small_block)
        result.add_incoming(large, large_block)
        return result

    return types.int64(types.int64, types.boolean), generate


def _typed_store(typing_context: Any, address: Any, four: Any, word: Any) -> Any:
    """Put a word of 4 or 8 bytes at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        where, is_four, value = arguments
        with builder.if_else(is_four) as (then, otherwise):
            with then:
                builder.store(
                    builder.trunc(value, ir.IntType(32)),
                    builder.inttoptr(where, ir.IntType(32).as_pointer()),
                )
            with otherwise:
                builder.store(value, builder.inttoptr(where, ir.IntType(64).as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, types.boolean, types.int64), generate


def _typed_single(typing_context: Any, pattern: Any) -> Any:
    """The float of 4 bytes that a bit pattern stands for."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(builder.trunc(arguments[0], ir.IntType(32)), ir.FloatType())

    return types.float32(types.int64), generate


def _typed_double(typing_context: Any, pattern: Any) -> Any:
    """The float of 8 bytes that a bit pattern stands for."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


def _typed_pattern(typing_context: Any, number: Any) -> Any:
    """The bit pattern of a float."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits = 32 if signature.args[0] == types.float32 else 64
        return builder.zext(builder.bitcast(arguments[0], ir.IntType(bits)), ir.IntType(64))

    return types.int64(number), generate


# Numba gives the typing context itself, which the signatures of these do not tell.
load_word: Any = intrinsic(_typed_load)
store_word: Any = intrinsic(_typed_store)
single_of: Any = intrinsic(_typed_single)
double_of: Any = intrinsic(_typed_double)
pattern_of: Any = intrinsic(_typed_pattern)
