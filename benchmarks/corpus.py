"""Digests of everything that the compiler, the routers and the connection scheduler write for a corpus of inputs.

To show that a change of the code's structure changes nothing else: run it before and after, and compare.

    python benchmarks/corpus.py [--quick] [--part 0/2] [--save FILE] [--against FILE]

A case is an example or a benchmark's input at several sizes, for each target, or a random program (those of the soak: nested
groups, threads, continuing operators). Its digest is the SHA-256 of the file that was written (image, connection tables, routes,
configurations), or the text of the refusal. Times and versions are taken out of JSON. With ``--against`` cases whose digest
differs from the file's are listed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.util
import io
import json
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
RANDOM = 300
"""Random programs, each compiled by itself and through the command."""
PHASE = """(phase
  (subset (make-1d 'x) (broadcast 'b (runtime) :m 32) (allreduce 'r 'sum :m 4))
  (subset (make-1d 'y) (cshift 'c -1 :m 32)))"""
Case = tuple[str, Callable[[Path], str]]
"""Its name, and what gives its digest; the path is that of a file to write."""


def cases(quick: bool) -> Iterator[Case]:
    yield from _examples(quick)
    yield from _chains(quick)
    yield from _routes(quick)
    yield from _configurations(quick)
    yield from _random(60 if quick else RANDOM)


def _examples(quick: bool) -> Iterator[Case]:
    sizes = ("1x1", "1x3", "2x2", "3x3", "4x4") if quick else ("1x1", "1x3", "2x1", "2x2", "3x3", "3x5", "4x4", "6x6")
    for size in sizes:
        x, _, y = size.partition("x")
        some = [
            ("matmul/matmul.cop", ["--set", "block=60"]),
            ("gauss/gauss.cop", ["--set", f"n={6 * int(x) * int(y)}"]),
            ("fft/fft.cop", ["--set", "points=64"]),
            ("fft/fft.cop", ["--set", "points=64", "--set", "transposing=0"]),
            ("console/console.cop", []),
            ("halves/halves.cop", []),
            ("fpga/exchange.cop", []),
            ("extending/halo.cop", ["--implementations", "examples/extending/star_broadcast.py"]),
        ]
        for name, settings in some:
            for target in ("numesh", "tdm", "packet"):
                if target != "numesh":
                    settings = settings if "--implementations" not in settings else []
                yield _command("compile", [f"examples/{name}", "--mesh", size, "--target", target, *settings])
        yield _command("compile", ["examples/matmul/matmul.cop", "--mesh", size, "--emit", "plan"])
        yield _command("compile", ["examples/gauss/gauss.cop", "--mesh", size, "--emit", "plan", "--set", "n=60"])
    if not quick:
        for size in ("8x8", "10x10"):
            yield _command("compile", ["examples/matmul/matmul.cop", "--mesh", size])
            yield _command("compile", ["examples/gauss/gauss.cop", "--mesh", size, "--set", "n=80"])


def _chains(quick: bool) -> Iterator[Case]:
    """The inputs of ``compile_time.py``."""
    pairs = [(8 * y + x, 8 * y + x + 1) for y in range(8) for x in range(7)]
    for count in (1, 10) if quick else (1, 10, 50, 100, 200):
        steps = [f"(stream 's{i} {pairs[i % 56][0]} {pairs[i % 56][1]} :m {1 + i * 7 % 40})" for i in range(count)]
        yield _text(f"chain of {count}", f"(sequential {' '.join(steps)})", ["--mesh", "8x8"])
    for size in ("2x2", "4x4") if quick else ("2x2", "4x4", "8x8"):
        yield _text("one phase", PHASE, ["--mesh", size])


def _routes(quick: bool) -> Iterator[Case]:
    chance = np.random.default_rng(1)
    kinds: list[dict[str, Any]] = [{"kind": "mesh", "size": [4, 4]}, {"kind": "torus", "size": [3, 5]}]
    if not quick:
        kinds += [
            {"kind": "mesh", "size": [8, 8]},
            {"kind": "mesh", "size": [3, 3, 3]},
            {"kind": "diamond", "size": [3]},
        ]
    for topology in kinds:
        nodes = int(np.prod(topology["size"])) if topology["kind"] != "diamond" else 35
        ends = chance.permutation(nodes).tolist()
        permutation = [{"source": a, "destinations": [b]} for a, b in enumerate(ends) if a != b]
        pairs = [
            {"source": a, "destinations": [b], "words": int(chance.integers(1, 6))}
            for a in range(nodes)
            for b in range(nodes)
            if a != b and chance.random() < 4 / nodes
        ]
        fans = [
            {
                "source": a,
                "destinations": sorted({int(b) for b in chance.integers(0, nodes, 4)} - {a}) or [(a + 1) % nodes],
            }
            for a in range(0, nodes, 3)
        ]
        for name, streams in (("permutation", permutation), ("pairs", pairs), ("fans", fans)):
            for router in ("numesh", "ideal"):
                if router == "numesh" and name == "pairs" and nodes > 40:
                    continue
                text = json.dumps({"topology": topology, "streams": streams})
                title = f"route {name} {topology['kind']} {topology['size']} {router}"
                yield _file(title, text, "route", ["--router", router], "--json")


def _configurations(quick: bool) -> Iterator[Case]:
    chance = np.random.default_rng(2)
    networks: list[tuple[str, Any, int]] = [("torus", [4, 4], 16), ("mesh", [3, 5], 15), ("crossbar", 16, 16)]
    for kind, size, nodes in networks if quick else [*networks, ("torus", [8, 8], 64), ("crossbar", 64, 64)]:
        for density in (0.1, 0.5):
            draw = chance.random((nodes, nodes)) < density
            pairs = [[a, b] for a in range(nodes) for b in range(nodes) if draw[a, b] and a != b] or [[0, 1]]
            text = json.dumps({"network": {"kind": kind, "size": size}, "routing": "xy", "connections": pairs})
            yield _file(f"configure {kind} {size} density {density}", text, "configure", ["--effort", "0.2"], "--json")
        if kind == "crossbar":
            demand = chance.integers(0, 9, (nodes, nodes)).tolist()
            text = json.dumps({"network": {"kind": kind, "size": size}, "demand": demand, "delta": 3})
            yield _file(f"configure demand {size}", text, "configure", [], "--json")


def _random(count: int) -> Iterator[Case]:
    soak = _load(ROOT / "tests/sim/cosim/soak_programs.py")
    for seed in range(count):
        yield f"random {seed}", lambda path, seed=seed: _soak_case(soak, seed)
        case = soak.case_of(seed)
        size = "x".join(map(str, case.size))
        yield _text(f"random text {seed}", case.text, ["--mesh", size])
        if seed % 3 == 0:
            for target in ("tdm", "packet"):
                yield _text(f"random text {seed} {target}", case.text, ["--mesh", size, "--target", target])


def _soak_case(soak: ModuleType, seed: int) -> str:
    images = soak.compiled(soak.case_of(seed))
    return images if isinstance(images, str) else hashlib.sha256(_image_bytes(images)).hexdigest()


def _image_bytes(images: Any) -> bytes:
    from pointsman.artifacts.images.file import images_to_bytes

    return images_to_bytes(images)


def _command(command: str, words: list[str]) -> Case:
    return " ".join([command, *words]), lambda path: _ran([command, *words, "-o", str(path)], path, ROOT)


def _text(name: str, text: str, words: list[str]) -> Case:
    def digest(path: Path) -> str:
        source = path.with_name("program.cop")
        source.write_text(text)
        return _ran(["compile", source.name, *words, "-o", str(path)], path, path.parent)

    return f"{name} {' '.join(words)}", digest


def _file(name: str, text: str, command: str, words: list[str], into: str) -> Case:
    def digest(path: Path) -> str:
        source = path.with_name("input.json")
        source.write_text(text)
        return _ran([command, source.name, *words, into, str(path)], path, path.parent)

    return name, digest


def _ran(words: list[str], path: Path, folder: Path) -> str:
    """Run a command in ``folder`` (images hold the paths of their sources); the digest of what it wrote, or its refusal."""
    from pointsman.cli import main as command

    path.unlink(missing_ok=True)
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said), contextlib.chdir(folder):
        with contextlib.suppress(SystemExit):
            command.main(words, standalone_mode=False)
    if not path.exists():
        return "refused: " + said.getvalue().replace(str(path.parent), "").replace(str(ROOT), "")
    data = path.read_bytes()
    if data[:1] == b"{":
        data = json.dumps(_timeless(json.loads(data)), sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(entry) for key, entry in value.items() if "seconds" not in key and key != "version"}
    return [_timeless(entry) for entry in value] if isinstance(value, list) else value


def _load(path: Path) -> ModuleType:
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the cases")
    parser.add_argument("--part", default="0/1", help="k/n: only every n-th case, from the k-th")
    parser.add_argument("--save", type=Path, help="write the digests here")
    parser.add_argument("--against", type=Path, help="compare with these digests")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    before = json.loads(options.against.read_text())["digests"] if options.against else {}
    digests: dict[str, str] = {}
    different = []
    with tempfile.TemporaryDirectory() as folder:
        for name, digest in cases(options.quick):
            # By the name, so that a case is in the same part of the quick corpus and of the whole.
            if zlib.crc32(name.encode()) % parts != part:
                continue
            try:
                digests[name] = digest(Path(folder) / "out")
            except Exception as error:
                digests[name] = f"{type(error).__name__}: {error}"
            if name in before and before[name] != digests[name]:
                different.append(name)
                print(f"differs: {name}\n  {before[name][:200]}\n  {digests[name][:200]}", file=sys.stderr, flush=True)
    answer = {"benchmark": "corpus", "cases": len(digests), "different": different, "digests": digests}
    if options.save:
        options.save.write_text(json.dumps(answer, indent=1) + "\n")
    print(json.dumps({key: value for key, value in answer.items() if key != "digests"}, indent=1))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
