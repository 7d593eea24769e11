"""Chakra's messages made by Google's protobuf package, from the published schema: a second opinion on what we read and write."""

from __future__ import annotations

import functools

import pytest

ATTRIBUTES = {"int32_val": 7, "int64_val": 9, "uint32_val": 11, "uint64_val": 13, "sint64_val": 17, "fixed64_val": 21}
ATTRIBUTES |= {"sfixed32_val": 23, "bool_val": 27, "string_val": 29, "double_val": 3}
TYPES = {"int32": 5, "int64": 3, "uint32": 13, "uint64": 4, "sint64": 18, "fixed64": 6, "sfixed32": 15, "bool": 8}
TYPES |= {"string": 9, "double": 1}


@functools.cache
def messages():
    """Classes by name: GlobalMetadata, Node, AttributeProto, BoolList."""
    descriptor_pb2 = pytest.importorskip("google.protobuf.descriptor_pb2")
    from google.protobuf import descriptor_pool, message_factory

    file = descriptor_pb2.FileDescriptorProto(name="et.proto", package="chakra", syntax="proto3")

    def message(name, *given):
        made = file.message_type.add(name=name)
        for field, number, kind, repeated in given:
            one = made.field.add(name=field, number=number, label=3 if repeated else 1)
            if kind in TYPES:
                one.type = TYPES[kind]
            else:
                one.type, one.type_name = 11, f".chakra.{kind}"

    message("BoolList", ("values", 1, "bool", True))
    # As in the schema, the value of an attribute is a oneof, whose numbers are written though they are 0.
    plain = [(name, number, name.removesuffix("_val"), False) for name, number in ATTRIBUTES.items()]
    message("AttributeProto", ("name", 1, "string", False), *plain, ("bool_list", 28, "BoolList", False))
    values = file.message_type[-1]
    values.oneof_decl.add(name="value")
    for field in values.field[1:]:
        field.oneof_index = 0
    message("GlobalMetadata", ("version", 1, "string", False), ("attr", 2, "AttributeProto", True))
    message(
        "Node",
        ("id", 1, "uint64", False),
        ("name", 2, "string", False),
        ("type", 3, "int32", False),
        ("ctrl_deps", 4, "uint64", True),
        ("data_deps", 5, "uint64", True),
        ("duration_micros", 7, "uint64", False),
        ("attr", 10, "AttributeProto", True),
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"chakra.{name}"))
        for name in ("BoolList", "AttributeProto", "GlobalMetadata", "Node")
    }
