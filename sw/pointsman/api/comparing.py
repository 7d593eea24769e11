"""``pointsman.api.compare``: one program on every target, by predicted cycles; the command ``compare PROGRAM`` is this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pointsman.errors import PointsmanError

from .compiling import ProgramSource, name_of
from .options import HARDWARE

NETWORKS = {
    "numesh": "{} of scheduled routers",
    "tdm": "crossbar of {} ports, multiplexed in time",
    "packet": "{} of packet routers",
    "optical": "optical {}, all connections compiled",
}


def compare(
    program: Any,
    network: Any = None,
    *,
    targets: Sequence[str] = HARDWARE,
    parameters: Mapping[str, int] | None = None,
    **options: Any,
) -> list[dict[str, Any]]:
    """Predict the cycles of a program on each target, nothing computed.

    A word crosses a link in a cycle on every target: a slot of the optical network and of the switch's frame carries a word a
    cycle, a packet router passes on a word a cycle, a pipeline of a scheduled router moves a word a cycle.

    Parameters
    ----------
    program, network, parameters
        As of `pointsman.compile`.
    targets : sequence of str
        Of `pointsman.api.options.HARDWARE`.

    Returns
    -------
    list of dict
        For each target ``target``, ``hardware``, ``cycles`` (None if not known) and ``ratio`` to the least; and ``error``, why it
        cannot do the program, or None.

    Raises
    ------
    PointsmanError
        If a target is not known, or the program is wrong for all of them.
    """
    rows: list[dict[str, Any]] = []
    errors: list[PointsmanError] = []
    for target in targets:
        if target not in HARDWARE:
            raise PointsmanError(f"there is no target '{target}'", hint=f"known are {', '.join(HARDWARE)}")
        row: dict[str, Any] = {"target": target, "hardware": target, "cycles": None, "ratio": None, "error": None}
        try:
            source = ProgramSource(network, target, options)
            made = source.read(program, parameters or {})
            size = str(made.topology.nodes) if target == "tdm" else made.topology.described
            row["hardware"] = NETWORKS[target].format(size)
            row["cycles"] = source.target_of(made).predicted(made, name_of(program), source.given)
        except PointsmanError as error:
            errors.append(error)
            row["error"] = error.message.splitlines()[0]
        rows.append(row)
    if rows and len(errors) == len(rows):
        raise errors[0]
    least = min((row["cycles"] for row in rows if row["cycles"] is not None), default=None)
    for row in rows:
        if row["cycles"] is not None and least:
            row["ratio"] = row["cycles"] / least
    return rows
