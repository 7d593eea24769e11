"""Draw a picture for each of the judge's rules: what the rule forbids, or what it keeps apart.

    python docs/pictures/make_rules.py

A picture is a few rows of cells; time, or a list in an image, runs to the right. A cell that begins with ``!`` breaks the rule
(red), ``*`` is a word on its way (blue), ``.`` is empty. Arrows show where words go, or what follows what.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

FOLDER = Path(__file__).with_name("rules")
WIDE, HIGH, LEFT = 58, 26, 78
"""Pixels of a cell, and of the column with the names of rows."""
INK, GREY, PALE, WRONG, WORD = "#222", "#777", "#eee", "#d55e00", "#56b4e9"

Cell = tuple[int, int]
"""Row and column."""


@dataclass(frozen=True)
class Picture:
    """``says``: what is to be seen, in a sentence."""

    says: str
    rows: tuple[tuple[str, str], ...]
    """Name, and cells divided by spaces (``_`` stands for a space in a cell)."""
    arrows: tuple[tuple[Cell, Cell], ...] = ()


PICTURES = {
    "structure": Picture(
        "An operator that names a phase which is not there",
        (("phases", "0 1 2 ."), ("operator", "phase !3 . .")),
        (((1, 1), (0, 3)),),
    ),
    "blocks": Picture(
        "A phase in the loader's block",
        (("memory", "!loader,A B C ."),),
    ),
    "annotations": Picture(
        "VFSM 5 is scheduled and has no annotation",
        (("slots", "3 4 !5 3"), ("annotated", "3 4 . .")),
    ),
    "codes": Picture(
        "VFSM 4 writes to the memories' register", (("VFSM 1", "r0 → MEMADR ."), ("VFSM 4", "+x → !MEMADR ."))
    ),
    "vfsm-numbers": Picture(
        "A word waits in VFSM 3 for the next round, and another phase uses VFSM 3",
        (("phase A", "*3 . *3 *3"), ("phase B", ". !3 . .")),
        (((0, 0), (0, 2)),),
    ),
    "rewrites": Picture(
        "A load function rewrites VFSM 3, through which a word of the barrier around it goes",
        (("load", "meet rewrite_3 meet ."), ("VFSM 3", ". !word . .")),
    ),
    "moves": Picture(
        "A blind move drops a word that is refused", (("sends", "*word !lost . ."), ("takes", "full full . ."))
    ),
    "links": Picture(
        "A word sent in slot 2 is read in slot 4, when it is gone",
        (("slot", "1 2 3 4"), ("node 0", ". *sends . ."), ("node 1", ". . . !reads")),
        (((1, 1), (2, 3)),),
    ),
    "aliased-handshake": Picture(
        "One wire for both handshakes carries words both ways in a slot",
        (("node 0", "*→ !→ . ."), ("node 1", ". !← . .")),
    ),
    "interface-order": Picture(
        "A VFSM reads the interface in the slot after one that writes it",
        (("slot", "1 2 3 4"), ("pipeline", ". writes !reads .")),
    ),
    "back-to-back": Picture("VFSM 3 runs in two slots running", (("slot", "1 2 3 4"), ("pipeline", "2 3 !3 4"))),
    "buffers": Picture(
        "A buffer is written again before its word is taken",
        (("slot", "1 2 3 4"), ("writer", "*a . !b ."), ("reader", ". . . takes")),
        (((1, 0), (2, 3)),),
    ),
    "forks": Picture(
        "The schedule changes between the two legs of a fork, and the other phase has a second leg there",
        (("slot", "1 2 3 4"), ("phase A", ". first (second) ."), ("phase B", ". . !second .")),
        (((1, 1), (2, 2)),),
    ),
    "registers": Picture(
        "Words of two streams in one register",
        (("stream s", "*s0 . *s1 ."), ("stream t", ". !t0 . ."), ("r4", "*s0 !t0? *s1 .")),
    ),
    "lanes": Picture(
        "The router delivers to register 5, and the processor reads register 4",
        (("router", "*→_r5 . . ."), ("processor", "!reads_r4 waits waits waits")),
    ),
    "reprogramming": Picture(
        "A phase in which VFSM 1 never runs cannot be left",
        (("slots", "2 3 2 3"), ("command", "waits waits waits !waits")),
    ),
    "promises": Picture(
        "Words are promised in order, and come in another",
        (("sent", "*0 *1 *2 *3"), ("comes", "*0 !2 !1 *3")),
    ),
    "stray": Picture(
        "A VFSM moves words that no stream has", (("streams", "s t . ."), ("VFSMs", "of_s of_t !of_none ."))
    ),
    "wires": Picture(
        "Node 1 is still in phase A and takes a word of phase B for one of A",
        (("node 0", "A A B *B,_slot_2"), ("node 1", "A A A !A,_slot_2")),
        (((0, 3), (1, 3)),),
    ),
    "message-ends": Picture(
        "A node leaves the phase while a word that it is to pass on has not come",
        (("node 0", ". . *sends ."), ("node 1", "uses leaves . !B"), ("node 2", ". . . waits")),
        (((0, 2), (1, 3)),),
    ),
    "settling": Picture(
        "The barrier lets node 0 go first; it waits until node 1 has changed, too",
        (("node 0", "go change settle *B"), ("node 1", ". . go change")),
    ),
    "entered": Picture(
        "A word of the next value comes to a router that still stands for the last",
        (("node 0", "rewrites *sends . ."), ("node 1", "old !old rewrites new")),
        (((0, 1), (1, 1)),),
    ),
    "online": Picture(
        "The tables send a message for node 2 round in a circle",
        (("node 0", "*2? → node_1 ."), ("node 1", "2? → !node_0 .")),
    ),
    "threads": Picture(
        "Words of one thread go to a node that is in another",
        (("thread 1", "node_0 node_1 *→ ."), ("thread 2", "node_2 !node_3 . .")),
        (((0, 2), (1, 1)),),
    ),
    "gates": Picture(
        "The word that opens the barrier passes a node that has not come",
        (("node 0", "in *opens . ."), ("node 1", "out !passed . ."), ("node 2", "in . goes_on .")),
        (((0, 1), (2, 2)),),
    ),
    "schedules": Picture(
        "The schedule for value 2 cannot follow that for value 1",
        (("value 1", "A1 B . ."), ("value 2", "A2 B . ."), ("may follow", "A1→A1 A2→A2 !A1→A2? .")),
    ),
    "rings": Picture(
        "The ring over which messages are passed on lacks a stream",
        (("ring", "0→1 1→2 !2→3 3→0"),),
    ),
    "knowledge": Picture(
        "Node 2 does different things for values 0 and 1, of which it knows only that they are not 2",
        (("value", "0 1 2 ."), ("node 2", "!role_a !role_b role_c .")),
    ),
    "continuing": Picture(
        "Node 0 goes on round the loop; node 1 has nothing to do in S and uses k where it is",
        (("node 0", "k,B leave S R"), ("node 1", "k,B !k,B waits waits")),
    ),
    "commands": Picture(
        "Words follow a command before it has taken effect",
        (("node 0", "command *word . ."), ("node 1", "old !old new .")),
        (((0, 1), (1, 1)),),
    ),
    "subphases": Picture(
        "In the second schedule another VFSM takes the word",
        (("first", "*2 → 3 ."), ("second", "*2 → !4 .")),
    ),
    "meaning": Picture(
        "Two registers of a lane are exchanged: the words come in another order",
        (("node 0", "*w0 *w1 *w2 *w3"), ("node 1", "!w1 !w0 !w3 !w2")),
    ),
    "passages": Picture(
        "Node 1 passes words on in phase B, and nothing takes it there",
        (("node 0", "A B C ."), ("node 1", "A !C C ."), ("node 2", "A B C .")),
    ),
}
"""By rule. `docs/make_check.py` puts them beside the laws."""


def drawn(picture: Picture) -> str:
    """A picture as SVG."""
    columns = max(len(cells.split()) for _, cells in picture.rows)
    width, height = LEFT + columns * WIDE + 6, len(picture.rows) * (HIGH + 6) + 6
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="11">',
        f"<title>{escape(picture.says)}</title>",
        f'<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0L8 4L0 8z" fill="{INK}"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for row, (name, cells) in enumerate(picture.rows):
        y = 6 + row * (HIGH + 6)
        lines.append(f'<text x="4" y="{y + 17}" fill="{GREY}">{escape(name)}</text>')
        for column, cell in enumerate(cells.split()):
            if cell == ".":
                continue
            fill = WRONG if cell[0] == "!" else WORD if cell[0] == "*" else PALE
            text = cell.lstrip("!*").replace("_", " ")
            ink = "white" if cell[0] == "!" else INK
            x = LEFT + column * WIDE
            lines.append(f'<rect x="{x}" y="{y}" width="{WIDE - 4}" height="{HIGH}" rx="3" fill="{fill}"/>')
            small = ' font-size="9"' if len(text) > 8 else ""
            lines.append(
                f'<text x="{x + WIDE // 2 - 2}" y="{y + 17}" text-anchor="middle" fill="{ink}"{small}>{escape(text)}</text>'
            )
    lines += [_arrow(*one) for one in picture.arrows]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _arrow(start: Cell, end: Cell) -> str:
    """From the lower edge of one cell to the upper edge of another, or the other way up; in a row from side to side."""
    (r, c), (s, d) = start, end
    x1, x2 = LEFT + c * WIDE + WIDE // 2 - 2, LEFT + d * WIDE + WIDE // 2 - 2
    y1, y2 = 6 + r * (HIGH + 6), 6 + s * (HIGH + 6)
    if r == s:
        x1, x2, y1, y2 = x1 + WIDE // 2 - 4, x2 - WIDE // 2 + 2, y1 + HIGH // 2, y2 + HIGH // 2
    elif r < s:
        y1 += HIGH
    else:
        y2 += HIGH
    return f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{INK}" fill="none" marker-end="url(#tip)"/>'


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, picture in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(drawn(picture))


if __name__ == "__main__":
    main()
