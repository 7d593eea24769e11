"""Names and numbers of the schema."""

from __future__ import annotations

from pointsman.artifacts.chakra import schema


def test_types_are_those_that_are_published():
    # Chakra's et_def.proto lists them in this order: nodes from 0 (invalid), collectives from 0.
    nodes = "METADATA, MEM_LOAD, MEM_STORE, COMP, COMM_SEND, COMM_RECV, COMM_COLL, STORAGE, BATCH, CHECKPOINT"
    assert ", ".join(kind.name for kind in schema.NodeType) == nodes
    assert list(schema.NodeType) == list(range(1, 11))
    rooted, others = "REDUCE, GATHER, SCATTER, BROADCAST", "ALL_TO_ALL, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, BARRIER"
    names = ["ALL_REDUCE", "ALL_GATHER", *rooted.split(", "), *others.split(", ")]
    assert {kind.name for kind in schema.CollectiveType} == set(names)
    assert [schema.CollectiveType[name] for name in names] == [0, 2, 1, 3, 4, 5, 6, 7, 8, 9]
