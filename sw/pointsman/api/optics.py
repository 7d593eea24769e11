"""``pointsman.api.optical``: one traffic on an optical network, reserved, hopping and compiled; the command ``optical`` is
this."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pointsman.errors import PointsmanError

from .judged import judge_configurations


def optical(spec: Path | str, *, modes: Sequence[str] | None = None) -> dict[str, dict[str, Any]]:
    """Simulate a traffic in each mode; what is assigned to channels is judged.

    Parameters
    ----------
    spec : path
        A JSON file, as in docs/optical.md.
    modes : sequence of str
        Of "reserve", "multihop", "compiled" and "mixed"; all that the file has traffic for when not given.

    Returns
    -------
    dict
        For each mode its figures, as ``pointsman optical --json`` writes them.

    Raises
    ------
    PointsmanError
        If the file or a mode is wrong, or there are too few channels.
    """
    from pointsman.optical.run import logical_of, needs_logical, run_modes
    from pointsman.optical.spec import MIXED, MODES, read_spec

    known = (*MODES, MIXED)
    for mode in modes or ():
        if mode not in known:
            raise PointsmanError(f"there is no mode '{mode}'", hint=f"known are {', '.join(known)}")
    read = read_spec(Path(spec))
    if modes is None:
        modes = MODES if read.dynamic is None else known
    made = None
    try:
        if needs_logical(read, modes):
            made = logical_of(read)
            if read.fabric.topology.regular:
                judge_configurations(made.configurations())
        return run_modes(read, modes, made)
    except PointsmanError as error:
        raise PointsmanError(f"{spec}: {error.message}", hint=error.hint) from None


def optical_text(answer: dict[str, dict[str, Any]]) -> str:
    """OUT.json as text, a message a line."""
    from pointsman.optical.run import ROWS

    parts = []
    for mode, figures in answer.items():
        rest = {name: value for name, value in figures.items() if name not in ROWS}
        text = json.dumps(rest, indent=2)[1:-2].replace("\n", "\n ")
        for name in ROWS:
            if name in figures:
                lines = ",\n".join("   " + json.dumps(row, separators=(",", ":")) for row in figures[name])
                text += f',\n   "{name}": [' + (f"\n{lines}\n   " if lines else "") + "]"
        parts.append(f" {json.dumps(mode)}: {{{text}\n }}")
    return "{\n" + ",\n".join(parts) + "\n}\n"
