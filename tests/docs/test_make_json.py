"""The reference of JSON: every key that commands write is in it, and every key in it is written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

from loading import module_at
from numesh.memory_map import memory_map
from numesh.shape import NodeShape
from pointsman.cli import main
from tdm_switch.address_map import address_map
from tdm_switch.shape import SwitchShape

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "docs" / "make_json.py"
SOURCES = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "sw/pointsman").rglob("*.py"))
RING = """
import numpy as np
from pointsman.runtime import Application

class Ring(Application):
    program = "ring.cop"
    async def main(self, node):
        await node.cop.next_load()
        return await node.cop.next_func(np.zeros(32, np.int32))
"""
SHIFT = """program shift
real, dimension(8) :: a, b
!hpf$ processors p(4)
!hpf$ template t(8)
!hpf$ align (i) with t(i) :: a, b
!hpf$ distribute t(block)
a(2:8) = b(1:7)
end program
"""
HALT = """codeblock main
  slots n
  inlet start n
    post end
  thread end
    halt n
"""
STREAMS = {"topology": {"kind": "mesh", "size": [2, 2]}, "streams": [{"source": 0, "destinations": [3]}]}
CHANNELS = {"network": {"kind": "torus", "size": [4]}, "channels": 2, "connections": [[0, 1, 8], [0, 2, 8], [0, 3, 8]]}
CONNECTIONS = {"network": {"kind": "mesh", "size": [2, 2]}, "connections": [[0, 3], [1, 2]]}

Path_ = tuple[str, ...]


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    return module_at(SCRIPT)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the commands write, by the document's name."""
    folder = tmp_path_factory.mktemp("json")
    (folder / "ring.cop").write_text("(parameter words 32)\n(loop 'round 2 (cshift 'next 1 :m words))\n")
    (folder / "ring.py").write_text(RING)
    (folder / "shift.f90").write_text(SHIFT)
    (folder / "halt.tam").write_text(HALT)
    (folder / "streams.json").write_text(json.dumps(STREAMS))
    (folder / "flows.json").write_text('{"flow": [{"from": "a", "to": "b", "bandwidth": 0.1, "latency": 99}]}')
    (folder / "connections.json").write_text(json.dumps(CONNECTIONS))
    (folder / "channels.json").write_text(json.dumps(CHANNELS))

    def call(command: str, output: str | None = None) -> Any:
        words = [
            str(folder / word) if re.search(r"\.(cop|py|json|image|f90|tam)$", word) else word
            for word in command.split()
        ]
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, f"{command}\n{done.output}{done.exception}"
        return json.loads((folder / output).read_text() if output else done.stdout)

    found = {
        "run": call("run ring.py --mesh 2x2 --engine model --json run.json", "run.json"),
        "dry": call("run ring.py --mesh 2x2 --dry --json dry.json", "dry.json"),
        "explain": call("explain ring.cop --mesh 2x2 --json --decision"),
        "plan": call("compile ring.cop --mesh 2x2 --emit plan"),
        "routes": call("compile ring.cop --mesh 2x2 --emit routes"),
        "tables": call("compile ring.cop --mesh 2x2 --target tdm --emit tables"),
        "messages": call("compile ring.cop --mesh 2x2 --target packet -o messages.json", "messages.json"),
        "route": call("route streams.json --length 8 --json route.json", "route.json"),
        "arrays": call("arrays shift.f90 --count --json arrays.json", "arrays.json"),
        "collective": call("collective reduce --mesh 2x2 --json collective.json", "collective.json"),
        "place": call("place flows.json --mesh 2x2 --json place.json", "place.json"),
        "configure": call("configure connections.json --json configure.json", "configure.json"),
        "channels": call("channels channels.json --json phases.json", "phases.json"),
        "tam": call("tam halt.tam 3 --json tam.json", "tam.json"),
        "fem": call("fem plate:4x4 --parts 2 --mesh 2x1 --run --target iwarp --json fem.json", "fem.json"),
        "map": memory_map(NodeShape()),
        "switch_map": address_map(SwitchShape()),
    }
    (folder / "other.json").write_text(json.dumps(found["run"] | {"period": 1}))
    found["compare"] = call("compare run.json other.json --json compare.json", "compare.json")
    found["targets"] = call("compare ring.cop --mesh 2x2 --json targets.json", "targets.json")
    assert CliRunner().invoke(
        main, ["compile", str(folder / "ring.cop"), "--mesh", "2x2", "-o", str(folder / "r.image")]
    )
    found["check"] = call("check r.image --json check.json", "check.json")
    return found


def leaves(value: Any, before: Path_ = ()) -> Iterator[Path_]:
    """Paths to what is no object and no list of objects; empty ones count as such."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from leaves(inner, (*before, name))
    elif isinstance(value, list) and any(_has_objects(one) for one in value):
        for one in value:
            yield from leaves(one, (*before, "[]"))
    else:
        yield before


def _has_objects(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(_has_objects(one) for one in value))


def tree_leaves(part: dict[str, Any]) -> Iterator[Path_]:
    """Of ``tree`` of ``explain``: groups begin with "tree", operators with "operator"."""
    inner = {name: value for name, value in part.items() if name != "children"}
    yield from leaves(inner, ("tree" if "children" in part else "operator",))
    if "children" in part:
        yield "tree", "children"
        for child in part["children"]:
            yield from tree_leaves(child)


def paths_of(name: str, value: dict[str, Any]) -> set[Path_]:
    if name != "explain":
        return set(leaves(value))
    return {*leaves({key: one for key, one in value.items() if key != "tree"}), *tree_leaves(value["tree"])}


def parsed(key: str) -> Path_:
    return tuple(re.findall(r"\[\]|[^.\[\]]+", key))


def begins(path: Path_, key: Path_) -> bool:
    """Does ``path`` begin with ``key``?"""
    return len(path) >= len(key) and all(b in ("*", a) for a, b in zip(path, key, strict=False))


def is_told(path: Path_, keys: set[Path_]) -> bool:
    """Is ``path`` a key or below one; or, being empty, above one?"""
    return any(begins(path, key) or begins_pattern(key, path) for key in keys)


def begins_pattern(key: Path_, path: Path_) -> bool:
    return len(key) > len(path) and all(b in ("*", a) for a, b in zip(path, key, strict=False))


def test_page_is_not_stale(maker: ModuleType) -> None:
    assert maker.PAGE.read_text(encoding="utf-8") == maker.page(), "run docs/make_json.py"


@pytest.mark.long
def test_every_key_that_is_written_is_told(maker: ModuleType, written: dict[str, Any]) -> None:
    for one in maker.documents():
        keys = {parsed(key) for key in (*one["keys"], *one["sometimes"])}
        if one["name"] in written:
            lost = [".".join(path) for path in paths_of(one["name"], written[one["name"]]) if not is_told(path, keys)]
            assert lost == [], one["name"]
    assert set(written) < {one["name"] for one in maker.documents()}


def test_every_key_that_is_told_is_written(maker: ModuleType, written: dict[str, Any]) -> None:
    for one in maker.documents():
        if one["keys"]:
            paths = paths_of(one["name"], written[one["name"]])
            stale = [key for key in one["keys"] if not any(begins(path, parsed(key)) for path in paths)]
            assert stale == [], one["name"]


def test_keys_on_a_condition_are_names_in_the_sources(maker: ModuleType) -> None:
    names = {parsed(key)[-1] for one in maker.documents() for key in one["sometimes"]}
    assert len(names) > 20
    assert [name for name in names if not re.search(rf'"{name}"|^    {name}: ', SOURCES, re.MULTILINE)] == []


def test_every_command_that_writes_json_has_its_keys_told(maker: ModuleType) -> None:
    told = maker.HEAD.replace("show.md", "`pointsman show") + "".join(one["written"] for one in maker.documents())
    writing = [
        name
        for name, command in main.commands.items()
        if any(word in one.opts for one in command.params for word in ("--json", "--emit"))
    ]
    assert len(writing) > 6
    assert [name for name in writing if f"`pointsman {name}" not in told] == []


def test_a_key_that_is_missing_or_stale_is_found() -> None:
    keys = {parsed("a.*.b"), parsed("c[].d")}
    assert is_told(("a", "x", "b"), keys)
    assert is_told(("c", "[]", "d"), keys)
    assert is_told(("c",), keys)  # an empty list
    assert not is_told(("a", "x", "e"), keys)
    assert not is_told(("f",), keys)
    assert set(leaves({"a": {"x": {"b": 1}}, "c": [{"d": [[1]]}], "e": {}})) == {
        ("a", "x", "b"),
        ("c", "[]", "d"),
        ("e",),
    }
