"""What is asked of routers when nothing is said, and what each refuses."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import pytest

from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.routing.options import FREE, USUAL
from pointsman.routing.routers import ROUTERS

PROBLEM = make_problem(mesh(2), [RouteStream(0, (1,))])


def test_options_do_not_change_under_a_router() -> None:
    with pytest.raises(FrozenInstanceError):
        USUAL.seed = 1  # type: ignore[misc]
    assert (FREE.cost, dict(FREE.keep_in), dict(FREE.pinned)) == (None, {}, {})


@pytest.mark.parametrize("name", ROUTERS)
@pytest.mark.parametrize("changes", [{"effort": 0.0}, {"effort": -1.0}, {"length": 0}, {"length": 10**6}])
def test_options_out_of_range_are_refused_by_every_router(name: str, changes: dict[str, float]) -> None:
    with pytest.raises(PointsmanError, match="must"):
        ROUTERS[name](PROBLEM, replace(USUAL, **changes))  # type: ignore[arg-type]
