"""``pointsman.api.optical``: one traffic on an optical network, reserved, hopping and compiled; the command ``optical`` is
this."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pointsman.errors import PointsmanError

from .judged import judge_configurations

if TYPE_CHECKING:
    from pointsman.optical.spec import Spec


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
    from pointsman.optical.spec import read_spec

    _check_modes(modes)
    read = read_spec(Path(spec))
    try:
        return _figures(read, modes)
    except PointsmanError as error:
        raise PointsmanError(f"{spec}: {error.message}", hint=error.hint) from None


def optical_figures(
    content: Mapping[str, Any], folder: Path, *, modes: Sequence[str] | None = None
) -> dict[str, dict[str, Any]]:
    """As `optical`, from the values of a file instead of the file; traces are in ``folder``.

    Raises
    ------
    PointsmanError
        As `optical`.
    """
    from pointsman.optical.spec import spec_from

    _check_modes(modes)
    return _figures(spec_from(content, folder), modes)


def _check_modes(modes: Sequence[str] | None) -> None:
    from pointsman.optical.spec import MIXED, MODES

    known = (*MODES, MIXED)
    for mode in modes or ():
        if mode not in known:
            raise PointsmanError(f"there is no mode '{mode}'", hint=f"known are {', '.join(known)}")


def _figures(spec: Spec, modes: Sequence[str] | None) -> dict[str, dict[str, Any]]:
    from pointsman.optical.run import logical_of, needs_logical, run_modes
    from pointsman.optical.spec import MIXED, MODES

    if modes is None:
        modes = MODES if spec.dynamic is None else (*MODES, MIXED)
    made = None
    if needs_logical(spec, modes):
        made = logical_of(spec)
        if spec.fabric.topology.regular:
            judge_configurations(made.configurations())
    return run_modes(spec, modes, made)


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
