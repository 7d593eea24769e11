"""Draw the timetable of a compiled program: which word leaves which node in which slot.

    python docs/pictures/make_timetable.py

writes ``timetable.svg``: the circular shift of the matrix multiplication on one column of a 4x4 mesh. Every line is a move
taken from the routed plan; nothing is drawn by hand.
"""

from __future__ import annotations

from pathlib import Path

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan

HERE = Path(__file__).parent
COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#8e5572")
SLOTS = 12
WIDE, HIGH, LEFT, TOP = 52, 74, 92, 46


def plan() -> Plan:
    """The shift along one column of four nodes."""
    program = compile_text("(loop 'l 4 (cshift 'c -1 :m 225))", topology=mesh(1, 4))
    return make_plan(program, NodeShape(), name="shift", period=8)


def draw(planned: Plan) -> str:
    """The timetable as SVG: time to the right, nodes downwards, a colour for each stream."""
    routed = planned.phases[0].routed
    nodes = planned.topology.nodes
    width, height = LEFT + SLOTS * WIDE + 30, TOP + nodes * HIGH + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for slot in range(SLOTS + 1):
        x = LEFT + slot * WIDE
        lines.append(f'<line x1="{x}" y1="{TOP - 8}" x2="{x}" y2="{height - 12}" stroke="#e6e6e6"/>')
        lines.append(f'<text x="{x}" y="{TOP - 18}" text-anchor="middle" fill="#777">{slot}</text>')
    lines.append(f'<text x="{LEFT - 20}" y="{TOP - 18}" text-anchor="end" fill="#777">slot</text>')
    for node in range(nodes):
        y = TOP + node * HIGH + 26
        lines.append(f'<text x="12" y="{y + 5}">node {node}</text>')
        lines.append(f'<line x1="{LEFT - 12}" y1="{y}" x2="{width - 14}" y2="{y}" stroke="#999"/>')
    for chain in routed.chains:
        colour = COLOURS[chain.stream % len(COLOURS)]
        for vfsm in chain.vfsms:
            y = TOP + vfsm.node * HIGH + 26
            for first in vfsm.slots:
                for slot in range(first, SLOTS, routed.period):
                    x = LEFT + slot * WIDE
                    if vfsm.source.kind == "inject":
                        lines.append(f'<circle cx="{x}" cy="{y}" r="6" fill="{colour}"/>')
                    if vfsm.destination.kind == "deliver":
                        lines.append(
                            f'<rect x="{x - 6}" y="{y - 6}" width="12" height="12" fill="white" stroke="{colour}" '
                            'stroke-width="2.5"/>'
                        )
                    else:
                        other = planned.topology.at_port[vfsm.node][vfsm.destination.number][0]
                        lines.append(
                            f'<line x1="{x}" y1="{y}" x2="{x + WIDE}" y2="{TOP + other * HIGH + 26}" '
                            f'stroke="{colour}" stroke-width="2.5"/>'
                        )
    lines.append("</svg>")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (HERE / "timetable.svg").write_text(draw(plan()))
