"""All benches, gathered from the catalogues of the rooms.

A bench names the module with its cocotb test as data; only the simulator imports it.
"""

from __future__ import annotations

from pointsman.errors import PointsmanError

from .bench import Bench
from .host.catalogue import BENCHES as HOST
from .numesh.catalogue import BENCHES as NUMESH
from .packet.catalogue import BENCHES as PACKET
from .tdm.catalogue import BENCHES as TDM

BENCHES: tuple[Bench, ...] = (*NUMESH, *PACKET, *TDM, *HOST)


def find(name: str) -> Bench:
    """The bench of this name.

    Raises
    ------
    PointsmanError
        If there is none.
    """
    for bench in BENCHES:
        if bench.name == name:
            return bench
    raise PointsmanError(f"there is no bench {name!r}", hint=f"there are: {', '.join(b.name for b in BENCHES)}")
