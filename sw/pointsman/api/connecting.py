"""``pointsman.configure`` and ``pointsman.channels``: connections to configurations, or to phases on logical channels; judged.
The commands of these names are these functions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pointsman.errors import PointsmanError

from .judged import judge_configurations, judge_phases
from .options import check_numbers

if TYPE_CHECKING:
    from pointsman.artifacts.channels.channels import ChannelProblem, PhasedConnections
    from pointsman.connections import Configurations, ConnectionProblem, DemandProblem, Timetable


def configure(
    connections: Path | str | Mapping[str, Any] | ConnectionProblem | DemandProblem,
    *,
    algorithm: str = "best",
    degree: int | None = None,
    seed: int = 0,
    effort: float = 1.0,
) -> Configurations | Timetable:
    """Divide connections into configurations of a time-multiplexed network, and have them judged.

    Parameters
    ----------
    connections : path, mapping, ConnectionProblem or DemandProblem
        What is to be connected; a path is that of a JSON file, as in docs/connections.md, a mapping is what such a file has.
    algorithm : str
        See `pointsman.connections.configure`, and `pointsman.connections.decompose` for a demand.
    degree : int, optional
        Slots there are; connections only.
    seed, effort
        The same seed gives the same answer; work relative to the usual.

    Returns
    -------
    Configurations or Timetable
        A Timetable for a demand.

    Raises
    ------
    PointsmanError
        If the file or an argument is wrong, or the connections do not fit.

    >>> import pointsman
    >>> from pointsman.connections import ConnectionProblem, Network
    >>> pointsman.configure(ConnectionProblem(Network("crossbar", (3,)), ((0, 1), (1, 1), (1, 2)))).degree
    2
    """
    from pointsman.artifacts.configurations.file import read_problem
    from pointsman.connections import ConnectionProblem, DemandProblem, decompose
    from pointsman.connections import configure as make

    check_numbers(whole={"degree": degree, "seed": seed}, real={"effort": effort})
    if isinstance(connections, Mapping):
        problem = read_problem(connections)
    else:
        problem = read_problem(Path(connections)) if isinstance(connections, str | Path) else connections
    if not isinstance(problem, ConnectionProblem | DemandProblem):
        raise PointsmanError(
            "connections must be the path of a file, its values in a mapping, a ConnectionProblem or a DemandProblem, "
            f"not {type(problem).__name__}"
        )
    answer: Configurations | Timetable
    if isinstance(problem, ConnectionProblem):
        answer = make(problem, algorithm=algorithm, degree=degree, seed=seed, effort=effort)
    else:
        if degree is not None:
            raise PointsmanError("--degree is for connections; a demand may have as many configurations as it takes")
        answer = decompose(problem, algorithm=algorithm)
    judge_configurations(answer)
    return answer


def channels(
    connections: Path | str | Mapping[str, Any] | ChannelProblem,
    *,
    algorithm: str = "best",
    seed: int = 0,
    effort: float = 1.0,
) -> PhasedConnections:
    """Divide connections into phases on the logical channels of a network, and have them judged.

    Parameters
    ----------
    connections : path, mapping or ChannelProblem
        What is to be connected; a path is that of a JSON file, as in docs/channels.md, a mapping is what such a file has.
    algorithm, seed, effort
        See `pointsman.connections.channels.divide`.

    Raises
    ------
    PointsmanError
        If the file or an argument is wrong, or the connections do not fit into the phases that are given.

    >>> from pointsman import api
    >>> from pointsman.artifacts.channels.channels import ChannelProblem, Demand
    >>> from pointsman.network import torus
    >>> len(api.channels(ChannelProblem(torus(4), 1, (Demand(0, 1, 8), Demand(0, 3, 8)))).phases)
    2
    """
    from pointsman.artifacts.channels.file import read_channel_problem
    from pointsman.connections.channels import divide

    check_numbers(whole={"seed": seed}, real={"effort": effort})
    if isinstance(connections, Mapping):
        problem = read_channel_problem(connections)
    else:
        problem = read_channel_problem(Path(connections)) if isinstance(connections, str | Path) else connections
    answer = divide(problem, algorithm=algorithm, seed=seed, effort=effort)
    judge_phases(answer)
    return answer
