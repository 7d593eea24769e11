"""Names and numbers of MLCommons' Chakra schema (et_def.proto, November 2026), as far as communication needs them."""

from __future__ import annotations

from enum import IntEnum

VERSION = "0.0.4"
"""Of the schema, in the first record of a file."""


class NodeType(IntEnum):
    """What a node of a trace does."""

    METADATA = 1
    MEM_LOAD = 2
    MEM_STORE = 3
    COMP = 4
    COMM_SEND = 5
    COMM_RECV = 6
    COMM_COLL = 7
    STORAGE = 8
    BATCH = 9
    CHECKPOINT = 10


class CollectiveType(IntEnum):
    """The attribute ``comm_type`` of a COMM_COLL node."""

    ALL_REDUCE = 0
    REDUCE = 1
    ALL_GATHER = 2
    GATHER = 3
    SCATTER = 4
    BROADCAST = 5
    ALL_TO_ALL = 6
    REDUCE_SCATTER = 7
    REDUCE_SCATTER_BLOCK = 8
    BARRIER = 9


METADATA_VERSION = 1
"""Field of the first record."""
NODE_ID, NODE_NAME, NODE_TYPE, NODE_DATA_DEPS, NODE_INPUTS, NODE_ATTRIBUTE = 1, 2, 3, 5, 8, 10
"""Fields of a node."""
INPUTS_VALUES = 1
"""Field of a node's inputs."""
ATTRIBUTE_NAME = 1
"""Field of an attribute; its value is in one of these."""
INT32, INT64, UINT32, UINT64, SINT32, SINT64 = 7, 9, 11, 13, 15, 17
FIXED32, FIXED64, SFIXED32, SFIXED64 = 19, 21, 23, 25
BOOL, BOOLS, STRING = 27, 28, 29
