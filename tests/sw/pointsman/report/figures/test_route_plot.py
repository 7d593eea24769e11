"""Pictures of routes: what they draw, not how it looks."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.errors import PointsmanError
from pointsman.network import mesh, torus
from pointsman.network.lattice import diamond
from pointsman.report.figures.route_plot import check_plot_name, occupation, plot_route
from pointsman.routing.ideal_router.router import route_ideal


def test_the_grid_has_every_link_move_once():
    problem = make_problem(mesh(3, 2), [RouteStream(0, (5, 2), words=2), RouteStream(4, (0,))])
    result = route_ideal(problem)
    grid = occupation(problem, result)
    moves = [
        (index, problem.links.index((before, after)), slot)
        for index, stream in enumerate(result.streams)
        for word in stream.words
        for before, slot, after, _, _ in word
        if before is not None and after is not None
    ]
    assert (grid >= 0).sum() == len(moves)
    assert all(grid[slot, link] == index for index, link, slot in moves)


@pytest.mark.parametrize(
    ("topology", "ending"), [(mesh(4), "png"), (torus(3, 3), "svg"), (mesh(2, 2, 2), "png"), (diamond(2), "png")]
)
def test_a_picture_is_written_and_is_the_same_each_time(tmp_path, topology, ending):
    problem = make_problem(
        topology, [RouteStream(0, (topology.nodes - 1,))], dead_nodes=[1] if topology.nodes > 4 else []
    )
    result = route_ideal(problem)
    first, second = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    plot_route(problem, result, first)
    plot_route(problem, result, second)
    assert first.stat().st_size > 1000
    assert first.read_bytes() == second.read_bytes()


def test_nothing_to_draw_is_drawn(tmp_path):
    problem = make_problem(mesh(1), [])
    path = tmp_path / "a.png"
    plot_route(problem, route_ideal(problem), path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(PointsmanError, match=r"a plot must end in .png, .svg, .pdf, not 'a.jpeg2'"):
        check_plot_name(tmp_path / "a.jpeg2")


def test_nodes_have_numbers_and_streams_a_legend(tmp_path):
    problem = make_problem(mesh(3, 2), [RouteStream(0, (5, 2)), RouteStream(4, (0,))])
    path = tmp_path / "a.svg"
    plot_route(problem, route_ideal(problem), path)
    text = path.read_text()  # glyphs are drawn as paths, with the text in a comment
    assert all(f"<!-- {node} -->" in text for node in range(6))
    assert "<!-- 0 → 5, 2 -->" in text
    assert "<!-- 4 → 0 -->" in text
    assert "<!-- stream -->" in text
    many = make_problem(mesh(5, 5), [RouteStream(node, (24 - node,)) for node in range(24) if node != 12])
    plot_route(many, route_ideal(many), path)
    assert "<!-- stream -->" not in path.read_text()


def test_a_picture_that_cannot_be_made_leaves_the_one_before(tmp_path, monkeypatch):
    from matplotlib.figure import Figure

    def half(figure, to, **options):
        data = b"half"
        if isinstance(to, str | Path):
            Path(to).write_bytes(data)
        else:
            to.write(data)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", half)
    path = tmp_path / "p.svg"
    path.write_text("before")
    problem = make_problem(mesh(2), [RouteStream(0, (1,))])
    with pytest.raises(OSError, match="No space left"):
        plot_route(problem, route_ideal(problem), path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
