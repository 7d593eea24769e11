"""Files of algorithms in the formats of others -> what ``pointsman import`` writes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np

from pointsman.errors import PointsmanError
from pointsman.files import open_without_waiting

from .file import algorithm_bytes
from .msccl import from_msccl
from .mscclpp import from_mscclpp
from .teccl import from_teccl

HINT = "docs/formats.md shows the formats"
Made = TypeVar("Made")

APPLICATION = '''"""{title}, made by `pointsman import msccl`. Run it with `pointsman run {file} --mesh XxY`."""

from pointsman.runtime.algorithms import AlgorithmApplication


class Imported(AlgorithmApplication):
    algorithm = r"""{text}"""
'''


def import_msccl(path: Path, *, application: bool, plan: bool = False) -> tuple[bytes, str]:
    """The algorithm of an MSCCL file, or of a ``plan`` of MSCCL++, as JSON or as an application, and what to tell about it.

    Raises
    ------
    PointsmanError
        If the file is wrong; the message has the line or the step.
    """

    def read() -> tuple[bytes, str]:
        if plan:
            with open(path, encoding="utf-8-sig", opener=open_without_waiting) as text:
                algorithm = from_mscclpp(text)
        else:
            with open(path, "rb", opener=open_without_waiting) as file:
                algorithm = from_msccl(file)
        told = f"{algorithm.collective} on {algorithm.ranks} ranks, {len(algorithm.messages)} messages"
        data = algorithm_bytes(algorithm)
        if not application:
            return data, told
        # JSON that cannot end the text that it stands in.
        said = data.decode().strip().replace('"""', '\\u0022""')
        title = f"{algorithm.collective.capitalize()} on {algorithm.ranks} ranks"
        return APPLICATION.format(title=title, file="FILE", text=said).encode(), told

    return _blamed(path, read)


def import_te_ccl(path: Path, *, link_chunks: int = 1) -> tuple[bytes, str]:
    """The demands of a TE-CCL schedule as streams on the links that it uses, for ``pointsman route``, and what to tell about it.
    A link carries at most ``link_chunks`` chunks an epoch.

    Raises
    ------
    PointsmanError
        If the file is wrong; the message has the entry.
    """

    def read() -> tuple[bytes, str]:
        with open(path, encoding="utf-8-sig", opener=open_without_waiting) as file:
            schedule = from_teccl(file, link_chunks=link_chunks)
        # Rows of (source, chunk, node), in this order.
        rows = np.unique(schedule.demands[schedule.demands[:, 0] != schedule.demands[:, 1]][:, [1, 2, 0]], axis=0)
        # Chunks of a node that go to the same nodes are words of one stream.
        words: dict[tuple[int, tuple[int, ...]], int] = {}
        begins = 1 + np.flatnonzero((rows[1:, :2] != rows[:-1, :2]).any(axis=1))
        for ends in np.split(rows, begins):
            if len(ends):
                key = int(ends[0, 0]), tuple(ends[:, 2].tolist())
                words[key] = words.get(key, 0) + 1
        streams = [{"source": s, "destinations": list(d), "words": n} for (s, d), n in words.items()]
        topology = {"kind": "graph", "nodes": schedule.nodes, "links": schedule.links}
        told = (
            f"{schedule.collective} on {schedule.nodes - len(schedule.switches)} nodes in {schedule.epochs} epochs, "
            f"{len(schedule.moves)} moves"
        )
        if schedule.switches:
            numbers = ", ".join(map(str, schedule.switches))
            told += (
                f" (node {numbers} is a switch)" if len(schedule.switches) == 1 else f" (nodes {numbers} are switches)"
            )
        return msgspec.json.encode({"topology": topology, "streams": streams}) + b"\n", told

    return _blamed(path, read)


def _blamed(path: Path, read: Callable[[], Made]) -> Made:
    try:
        return read()
    except UnicodeDecodeError as error:
        raise PointsmanError(f"{path}: this is no UTF-8 text: {error.reason}") from None
    except (OSError, ValueError) as error:
        raise PointsmanError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    except PointsmanError as error:
        raise PointsmanError(f"{path}: {error.message}", hint=error.hint or HINT) from None
