"""The formats that ``pointsman import`` reads, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from pointsman.artifacts.flows.flows import FlowSet
from pointsman.errors import PointsmanError
from pointsman.files import open_without_waiting

from .aie import from_aie
from .matrix import from_csv, from_matrix_market
from .npe import from_npe_trace, from_npe_workload
from .poseidon import from_poseidon
from .vtr import from_vtr

FORMATS = {
    "csv": "demand matrix, a row a line",
    "matrix-market": "demand matrix in MatrixMarket's coordinate form",
    "vtr": "traffic flows of VTR (.flows)",
    "npe": "workload of tt-npe",
    "npe-trace": "NoC trace of tt-npe",
    "mlir-aie": "flows of mlir-aie",
    "poseidon": "communication of Poseidon",
}
MOST_CHARACTERS = 1 << 22
"""Longest line."""
MATRICES = {"csv": from_csv, "matrix-market": from_matrix_market}


def import_flows(
    name: str,
    path: Path,
    *,
    clock: float = 1e9,
    word_bytes: int = 4,
    chip: int | None = None,
    tell: Callable[[str], object] | None = None,
) -> FlowSet:
    """Flows of a file. ``clock`` (hertz) and ``word_bytes`` turn seconds and bytes into cycles and words, for "vtr"; ``chip`` is
    whose part of an "npe-trace" is read, if it is of several. ``tell`` is called with what is left out of a matrix.

    Raises
    ------
    PointsmanError
        If the file is wrong; the message has the line.
    """
    if name not in FORMATS:
        raise PointsmanError(f"a format must be one of {', '.join(FORMATS)}, not {name!r}")
    try:
        if name in ("vtr", "poseidon"):
            with open(path, "rb", opener=open_without_waiting) as file:
                return from_poseidon(file) if name == "poseidon" else from_vtr(file, clock=clock, word_bytes=word_bytes)
        with open(path, encoding="utf-8-sig", opener=open_without_waiting) as text:
            if name in ("npe", "npe-trace"):
                return from_npe_workload(text) if name == "npe" else from_npe_trace(text, chip=chip)
            if name in MATRICES:
                return MATRICES[name](_lines(text), tell=tell)
            return from_aie(_lines(text))
    except UnicodeDecodeError as error:
        raise PointsmanError(f"{path}: this is no UTF-8 text: {error.reason}") from None
    except (OSError, ValueError) as error:
        raise PointsmanError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    except PointsmanError as error:
        raise PointsmanError(
            f"{path}: {error.message}", hint=error.hint or "docs/formats.md shows the formats"
        ) from None


def _lines(file: TextIO) -> Iterator[str]:
    """The lines of a file, of which none may be so long that it fills the memory."""
    number = 0
    while line := file.readline(MOST_CHARACTERS + 1):
        number += 1
        if len(line) > MOST_CHARACTERS:
            raise PointsmanError(f"line {number}: a line must have at most {MOST_CHARACTERS} characters")
        yield line
