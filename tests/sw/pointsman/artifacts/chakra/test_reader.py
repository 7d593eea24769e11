"""Traces made by Google's protobuf package, and what is wrong with others."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from tests.sw.pointsman.artifacts.chakra.protobuf_trace import messages

from pointsman.artifacts.chakra import reader, schema
from pointsman.artifacts.chakra.reader import import_chakra
from pointsman.artifacts.chakra.schema import CollectiveType, NodeType
from pointsman.artifacts.chakra.wire import framed, record_bytes
from pointsman.artifacts.flows import demands
from pointsman.errors import PointsmanError

EXAMPLE = Path(__file__).parents[5] / "examples/formats/ring_allreduce.2.et"


def node(kind, number=0, lists=(), **attributes):
    """A record of a node. Attributes are NAME__TYPE, such as ``comm_size__uint64``; int64 if there is no type."""
    made = messages()["Node"](id=number, name="a node", type=kind, data_deps=[1, 2, 300], duration_micros=7)
    for name, value in attributes.items():
        name, _, kind_ = name.partition("__")
        made.attr.add(name=name, **{f"{kind_ or 'int64'}_val": value})
    for name, values in dict(lists).items():
        made.attr.add(name=name, bool_list=messages()["BoolList"](values=values))
    return made.SerializeToString()


def written(folder, *traces, start=None, pack=bytes):
    """Files of traces, each a list of records; gives the last one."""
    metadata = messages()["GlobalMetadata"](version="0.0.4").SerializeToString() if start is None else start
    for rank, trace in enumerate(traces):
        path = folder / f"run.{rank}.et"
        path.write_bytes(pack(b"".join(map(framed, [metadata, *trace]))))
    return path


def bandwidths(flows):
    return {(flow.source, flow.destinations): flow.bandwidth for flow in flows.flows}


def test_the_example_is_a_ring():
    flows = import_chakra(EXAMPLE)
    assert bandwidths(flows) == {(k, ((k + 1) % 4,)): 1.0 for k in range(4)}
    assert [task.name for task in flows.tasks] == ["rank 0", "rank 1", "rank 2", "rank 3"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("sort", ["int32", "int64", "uint32", "uint64", "sint64", "fixed64", "sfixed32"])
def test_messages_add_up_whatever_the_type_of_their_numbers(tmp_path, sort, pack):
    def sizes(*given):
        return [
            (NodeType.COMM_SEND, NodeType.COMM_RECV, {f"comm_size__{sort}": n, "comm_dst": d, "comm_src": s})
            for n, s, d in given
        ]

    ways = sizes((100, 0, 1), (100, 0, 1), (50, 1, 0))
    traces = [
        [node(NodeType.COMP), *(node(s if k["comm_src"] == rank else r, **k) for s, r, k in ways)] for rank in range(2)
    ]
    assert bandwidths(import_chakra(written(tmp_path, *traces, pack=pack))) == {(0, (1,)): 1.0, (1, (0,)): 0.25}


def collective(kind, size, group=None, **more):
    named = {} if group is None else {"pg_name__string": group}
    return node(NodeType.COMM_COLL, comm_type=kind, comm_size=size, **named, **more)


def described(text):
    """Metadata of PyTorch, by hand: its values are in the field of inputs."""
    inputs = record_bytes([(schema.INPUTS_VALUES, text)])
    return record_bytes([(schema.NODE_ID, 1), (schema.NODE_TYPE, int(NodeType.METADATA)), (schema.NODE_INPUTS, inputs)])


def test_collectives_of_groups_are_among_their_ranks_and_calls_on_processors_move_nothing(tmp_path):
    call = node(NodeType.COMM_COLL, is_cpu_op__bool=True)
    mine = [[collective(CollectiveType.ALL_TO_ALL, 10, str(7 + rank // 2))] for rank in range(4)]
    everyone = collective(CollectiveType.ALL_GATHER, 5, "0")
    path = written(tmp_path, *([call, *one, everyone] for one in mine))
    groups = tmp_path / "groups.json"
    groups.write_text('{"7": [1, 0], "8": [2, 3]}')
    pairs = {(a, (b,)): 0.25 for a, b in ((0, 1), (1, 0), (2, 3), (3, 2))}
    all_others = {(a, tuple(b for b in range(4) if b != a)): 0.25 for a in range(4)}
    assert bandwidths(import_chakra(path, groups)) == pairs | all_others
    # The same from what PyTorch writes, of which an empty list is all ranks.
    told = described(
        """['[{"pg_name": "0", "x": 1, "ranks": []}, {"pg_name": "7", "ranks": [0, 1]}, {"pg_name": "8", "ranks": [2, 3]}]']"""
    )
    path = written(tmp_path, *([described("[]"), told, call, *one, everyone] for one in mine))
    assert bandwidths(import_chakra(path)) == pairs | all_others


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[1]", "groups must be an object of lists of ranks by name: Expected `object`, got `array`"),
        ('{"7": [0, 4]}', "group '7' must be one or more of the ranks 0 to 3, each once"),
        ('{"7": []}', "group '7' must be one or more"),
        ('{"7": [1, 1]}', "group '7' must be one or more"),
        ('{"8": [0, 1]}', "run.0.et: record 2: node 0: the group '7' is not known"),
        ('{"7": [1, 2, 3]}', "run.0.et: record 2: node 0: rank 0 is not in the group '7', which has 3 ranks"),
        ('{"7": [0, 1, 2]}', "rank 3 is not in the group '7'"),
    ],
)
def test_groups_that_do_not_fit_the_traces_are_refused(tmp_path, text, told):
    path = written(tmp_path, *[[collective(CollectiveType.ALL_TO_ALL, 10, "7")]] * 4)
    groups = tmp_path / "groups.json"
    groups.write_text(text)
    with pytest.raises(PointsmanError, match=told):
        import_chakra(path, groups)


def test_ranks_of_a_group_must_agree(tmp_path):
    groups = tmp_path / "groups.json"
    groups.write_text('{"7": [0, 1], "8": [1, 2]}')
    seven, eight = (collective(CollectiveType.ALL_TO_ALL, 10, name) for name in "78")
    with pytest.raises(
        PointsmanError, match=r"rank 2 has 0 of ALL_TO_ALL with 10 bytes, and rank 1 1: .* of a group must"
    ):
        import_chakra(written(tmp_path, [seven], [seven, eight], []), groups)
    with pytest.raises(PointsmanError, match="rank 2 has 1 of ALL_TO_ALL with 10 bytes, and rank 1 0"):
        import_chakra(written(tmp_path, [seven], [seven], [eight]), groups)
    with pytest.raises(PointsmanError, match="group '7' must be one or more of the ranks 0 to 2"):
        import_chakra(written(tmp_path, [described("""['[{"pg_name": "7", "ranks": [0, 9]}]']""")], [], []))


def test_collectives_are_what_ranks_send_each_other(tmp_path):
    def found(*given):
        trace = [node(NodeType.COMM_COLL, comm_type=kind, comm_size__uint64=size) for kind, size in given]
        return bandwidths(import_chakra(written(tmp_path, *[trace] * 3)))

    pairs = {(a, (b,)): 0.5 for a in range(3) for b in range(3) if a != b}
    assert found((CollectiveType.ALL_TO_ALL, 300)) == pairs
    assert found((CollectiveType.REDUCE_SCATTER, 300), (CollectiveType.BARRIER, 0)) == pairs
    all_others = {(a, tuple(b for b in range(3) if b != a)): 0.5 for a in range(3)}
    assert found((CollectiveType.ALL_GATHER, 300)) == all_others
    # An all-reduce sends two parts to others and one to all, and takes four: the busiest port takes.
    both = dict.fromkeys(pairs | all_others, 0.25)
    assert found((CollectiveType.ALL_REDUCE, 300)) == both
    assert found((CollectiveType.REDUCE_SCATTER, 300), (CollectiveType.ALL_GATHER, 100)) == both
    whole = [node(NodeType.COMM_COLL, comm_type=6, comm_size=3, lists={"involved_dim": [True, True]})]
    assert bandwidths(import_chakra(written(tmp_path, whole, whole, whole))) == pairs


@pytest.mark.parametrize(
    ("kind", "given", "wrong"),
    [
        (11, {}, "record 2: node 5: there is no type 11 of nodes"),
        (0, {}, "record 2: node 5: there is no type 0 of nodes"),
        (5, {"comm_dst": 1}, "node 5: a node of this type must have the attribute comm_size"),
        (5, {"comm_size": 1}, "node 5: a node of this type must have the attribute comm_dst"),
        (5, {"comm_size": -1}, "comm_size must be a whole number of 0 to 9007199254740992, not -1"),
        (5, {"comm_size__string": "x"}, "comm_size must be a whole number of 0 to 9007199254740992, not x"),
        (5, {"comm_size__double": 1.5}, "comm_size must be a whole number of 0 to 9007199254740992, not None"),
        (5, {"comm_size": 1, "comm_dst": 2}, "comm_dst must be a whole number of 0 to 1, not 2"),
        (5, {"comm_size": 1, "comm_dst": 0}, "a message must go to another rank"),
        (5, {"comm_size": 1, "comm_dst": 1, "comm_src": 1}, "comm_src must be 0, the rank of the trace, not 1"),
        (5, {"comm_size": 1, "comm_dst": 1}, "rank 0 sends 1 bytes to rank 1, which takes 0"),
        (6, {"comm_size": 1, "comm_src": 1}, "rank 1 sends 0 bytes to rank 0, which takes 1"),
        (7, {"comm_size": 1}, "a node of this type must have the attribute comm_type"),
        (7, {"comm_size": 1, "comm_type": 12}, "comm_type must be a whole number of 0 to 9, not 12"),
        (
            7,
            {"comm_size": 1, "comm_type": 5},
            "BROADCAST is not read, since the schema does not say which rank is its root",
        ),
        (7, {"comm_size": 1, "comm_type": 0, "pg_name__string": "3"}, "the group '3' is not known"),
        (7, {"comm_size": 9, "comm_type": 0}, "rank 1 has 0 of ALL_REDUCE with 9 bytes, and rank 0 1"),
        (
            7,
            {"comm_size": 1, "comm_type": 0, "lists": {"involved_dim": [True, False]}},
            "involved_dim must be true for all dimensions",
        ),
    ],
)
def test_what_has_no_flows_is_refused_with_its_record(tmp_path, kind, given, wrong):
    with pytest.raises(PointsmanError) as raised:
        import_chakra(written(tmp_path, [node(kind, 5, **given)], []))
    assert wrong in raised.value.message


def test_files_that_are_no_traces_are_refused(tmp_path):
    path = written(tmp_path, [], [])
    with pytest.raises(PointsmanError, match="there must be 1 to"):
        import_chakra(path)
    with pytest.raises(PointsmanError, match=r"there is no file .*run\.2\.et"):
        import_chakra(tmp_path / "run.7.et")
    with pytest.raises(PointsmanError, match=r"a trace must be called NAME\.RANK\.et"):
        import_chakra(tmp_path / "run.et")
    with pytest.raises(PointsmanError, match=r"run\.0\.et: record 1: a file must begin with its metadata"):
        import_chakra(written(tmp_path, [], start=node(NodeType.COMP, 5)))
    path.write_bytes(path.read_bytes() + b"\x09abc")
    with pytest.raises(PointsmanError, match=r"run\.1\.et: record 2: the file ends within a record"):
        import_chakra(written(tmp_path, []).with_name("run.1.et"))
    path.write_bytes(gzip.compress(b"a" * 1000)[:-9])
    with pytest.raises(PointsmanError, match=r"run\.1\.et"):
        import_chakra(path)


def test_more_flows_or_collectives_than_are_kept_are_refused_at_their_node(tmp_path, monkeypatch):
    monkeypatch.setattr(demands, "MAX_FLOWS", 1)
    sends = [node(NodeType.COMM_SEND, number, comm_size=1, comm_dst=number) for number in (1, 2)]
    with pytest.raises(PointsmanError, match=r"run.0.et: record 3: node 2: there must be at most 1 flows"):
        import_chakra(written(tmp_path, sends, [], []))
    every = [node(NodeType.COMM_COLL, comm_type=CollectiveType.ALL_TO_ALL, comm_size=3)]
    with pytest.raises(PointsmanError, match=r"^there must be at most 1 flows"):
        import_chakra(written(tmp_path, every, every, every))
    monkeypatch.setattr(reader, "MOST_COLLECTIVES", 1)
    two = [node(NodeType.COMM_COLL, k, comm_type=CollectiveType.ALL_TO_ALL, comm_size=k) for k in (5, 6)]
    with pytest.raises(PointsmanError, match=r"record 3: node 6: there must be at most 1 collectives that differ"):
        import_chakra(written(tmp_path, two, two, two))
