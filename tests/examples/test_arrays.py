"""The array programs of the examples: what each communication step leaves of their communications, and that they run right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pointsman
from pointsman.arrays.analysis import derive
from pointsman.arrays.analysis.emulation import count
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.tree.meaning import run
from pointsman.arrays.tree.statements import ArrayProgram
from pointsman.network import mesh
from pointsman.runtime.array_programs import ArrayApplication

EXAMPLES = Path(__file__).parents[2] / "examples"
COUNTS: dict[str, tuple[dict[str, int], tuple[int, int], tuple[int, int]]] = {
    "accept_reject": ({}, (183, 75), (96, 12)),
    "alternating_directions": ({"n": 8}, (0, 0), (0, 0)),
    "artificial_diffusion": ({"n": 12, "m": 14}, (368, 139), (341, 86)),
    "bitonic_sort": ({}, (224, 56), (224, 56)),
    "butterfly_sums": ({}, (256, 64), (256, 64)),
    "convolution": ({"n": 4}, (72, 72), (72, 36)),
    "elimination": ({"n": 9}, (132, 48), (132, 48)),
    "flux_differences": ({"n": 6}, (1280, 38), (1280, 32)),
    "fourier": ({}, (192, 48), (192, 24)),
    "gauss_seidel": ({"n": 14}, (392, 28), (392, 28)),
    "hopfield": ({"n": 10}, (90, 36), (90, 36)),
    "jacobi": ({"n": 10, "steps": 2}, (240, 96), (240, 96)),
    "livermore18": ({"jn": 20}, (2622, 368), (1824, 96)),
    "matmul": ({"n": 8}, (384, 96), (384, 96)),
    "mesh_generation": ({"n": 11}, (1908, 1008), (1476, 384)),
    "multigrid": ({}, (784, 78), (784, 78)),
    "n_body": ({"n": 12}, (108, 36), (72, 12)),
    "particle_mesh": ({}, (216, 24), (216, 24)),
    "percolation": ({}, (288, 18), (288, 18)),
    "phase_separation": ({}, (360, 24), (360, 24)),
    "potts": ({}, (320, 20), (256, 16)),
    "shallow_water": ({"n": 10, "steps": 1}, (803, 359), (635, 211)),
    "sparse": ({}, (144, 72), (144, 72)),
    "tabulation": ({}, (64, 8), (64, 8)),
    "wavelets": ({}, (96, 24), (96, 24)),
}
"""By program: sizes for a quick run; elements and messages after vectorisation, and at the end."""


def _program(name: str, processors: tuple[int, ...] | None = None) -> ArrayProgram:
    path = EXAMPLES / f"arrays/{name}.f90"
    return read_program(path.read_text(), path.name, values=COUNTS[name][0], processors=processors)


def test_every_example_is_here() -> None:
    assert {path.stem for path in (EXAMPLES / "arrays").glob("*.f90")} == set(COUNTS)


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name: str) -> None:
    program = _program(name)
    assert bool(program.remarks) == (name in ("accept_reject", "sparse"))
    first = {array: np.ones(described.shape) for array, described in program.arrays.items()}
    steps = derive(program)
    costs = [count(steps[step], first) for step in ("vectorised", "scheduled")]
    assert [(cost.elements, cost.messages) for cost in costs] == list(COUNTS[name][1:])


@pytest.mark.parametrize("name", COUNTS)
def test_it_is_right_by_its_meaning(name: str) -> None:
    result = pointsman.run(ArrayApplication(_program(name)), dry=True)
    assert result.correct, result.text


@pytest.mark.parametrize("processors", [(1, 1), (1, 3), (3, 5)])
@pytest.mark.parametrize("name", ["livermore18", "matmul", "shallow_water"])
def test_on_grids_of_other_shapes(name: str, processors: tuple[int, ...]) -> None:
    result = pointsman.run(ArrayApplication(_program(name, processors), words=2), dry=True)
    assert result.correct, result.text


def _last(name: str, first: dict[str, np.ndarray], **values: int) -> dict[str, np.ndarray]:
    path = EXAMPLES / f"arrays/{name}.f90"
    return run(read_program(path.read_text(), path.name, values=values), first)


def _reversed(n: int) -> list[int]:
    return [int(f"{k:0{n.bit_length() - 1}b}"[::-1], 2) for k in range(n)]


def test_transforms_are_those_of_numpy() -> None:
    a, b = np.random.default_rng(1).random((2, 8, 8))
    found = _last("fourier", {"re": a, "im": b})
    expected = np.fft.fft2(a + 1j * b)[np.ix_(_reversed(8), _reversed(8))]
    np.testing.assert_allclose(found["re"] + 1j * found["im"], expected, atol=1e-12)
    product = np.fft.ifft2(np.fft.fft2(a) * np.fft.fft2(b)).real
    np.testing.assert_allclose(_last("convolution", {"ar": a, "br": b})["ar"], product, atol=1e-12)
    np.testing.assert_allclose(_last("wavelets", {"x": a + 1})["x"], a + 1, atol=0.25)


@pytest.mark.parametrize("n", [2, 16, 64, 128])
def test_segments_are_sorted(n: int) -> None:
    a = np.random.default_rng(n).random(n)
    found = _last("bitonic_sort", {"a": a}, n=n)["a"]
    expected = np.sort(a.reshape(-1, min(n, 64)), axis=1)
    expected[1::2] = expected[1::2, ::-1]  # every second segment falls
    assert (found.reshape(expected.shape) == expected).all()


def test_labels_of_clusters_are_their_greatest() -> None:
    """Against a search from site to site."""
    found = _last("percolation", {}, n=9, steps=100)
    taken = {(int(i), int(j)) for i, j in np.argwhere(found["site"][1:-1, 1:-1]) + 1}
    edge = found["label"]
    while taken:
        cluster = [taken.pop()]
        for i, j in cluster:
            cluster += [one for one in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)) if one in taken]
            taken -= set(cluster)
        labels = {float(edge[one]) for one in cluster}
        beside = [edge[i + di, j + dj] for i, j in cluster for di, dj in ((-1, 0), (1, 0), (0, -1), (0, 1))]
        assert labels == {float(max(beside))}


@pytest.mark.slow
@pytest.mark.parametrize("target", ["numesh", "packet", "tdm", "optical"])
@pytest.mark.parametrize("name", COUNTS)
def test_it_runs_on_every_target(name: str, target: str) -> None:
    """On four processors, where there is one grid and it has any number of axes but four."""
    grids = _program(name).grids
    shape = {1: (4,), 2: (2, 2)}.get(len(grids[0].shape)) if len(grids) == 1 else None
    engine = {"engine": "verilated"} if target == "numesh" else {"engine": "model"} if target == "packet" else {}
    result = pointsman.run(ArrayApplication(_program(name, shape)), target=target, **engine)
    assert result.correct, result.text


@pytest.mark.slow
def test_jacobi_and_matmul_take_the_cycles_of_programs_written_by_hand() -> None:
    """Within 15 %: in all, and without the computation."""
    for derived, sizes, by_hand, arguments in (
        ("jacobi", {"n": 30}, "jacobi", {"size": 32}),
        ("matmul", {"n": 60}, "matmul", {"size": 60, "type": "float32"}),
    ):
        path = EXAMPLES / f"arrays/{derived}.f90"
        application = ArrayApplication(read_program(path.read_text(), path.name, values=sizes))
        ours = pointsman.run(application, engine="model", check=False)
        theirs = pointsman.run(
            EXAMPLES / f"{by_hand}/{by_hand}.py", mesh(4, 4), engine="model", check=False, arguments=arguments
        )
        assert ours.correct
        assert theirs.correct
        assert ours.values["total_cycles"] <= 1.15 * theirs.values["total_cycles"]
        other = [sum(one.values["categories"].values()) - one.values["categories"]["cpu"] for one in (ours, theirs)]
        assert other[0] <= 1.15 * other[1]
