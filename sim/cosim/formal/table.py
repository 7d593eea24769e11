"""The lists of proofs and mutants in the documentation, made from the proofs themselves."""

from __future__ import annotations

import json
from pathlib import Path

from .book import ROOT
from .proof import Book, Case, Mutant, Proof

PAGES = {
    block: ROOT / "docs" / f"proofs_table{suffix}.md"
    for block, suffix in (("numesh", ""), ("tdm_switch", "_tdm"), ("packet_router", "_packet"), ("host", "_host"))
}
PAGE = PAGES["numesh"]
_FILE = "times.json"


class ProofTimes:
    """CPU time of the last successful run of each case, in seconds."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds

    @classmethod
    def read(cls, folder: Path) -> ProofTimes:
        """The times kept in ``folder``; empty if it has none."""
        path = folder / _FILE
        return cls(json.loads(path.read_text()) if path.exists() else {})

    def write(self, folder: Path) -> None:
        (folder / _FILE).write_text(json.dumps(dict(sorted(self.seconds.items())), indent=1) + "\n")

    def note(self, proof: Proof, case: Case, seconds: float | None) -> None:
        """Keep the time of a case; None forgets it."""
        self.seconds.pop(_key(proof, case), None)
        if seconds is not None:
            self.seconds[_key(proof, case)] = round(seconds, 1)

    def of(self, proof: Proof) -> str:
        """Time of all cases; if some have no time, of how many; a dash if none has."""
        known = [self.seconds[key] for key in (_key(proof, case) for case in proof.cases) if key in self.seconds]
        if not known:
            return "–"
        of = "" if len(known) == len(proof.cases) else f" ({len(known)} of {len(proof.cases)} cases)"
        return f"{sum(known):.0f} s{of}"


def write_page(book: Book, times: ProofTimes) -> Path:
    """Write the page. Gives its path."""
    path = PAGES[book.block]
    path.write_text(page(book, times))
    return path


def page(book: Book, times: ProofTimes) -> str:
    """The page of all shapes, proofs and mutants."""
    of_node = book.block == "numesh"
    name = NAMES[book.block]
    looked_at = (
        " `odd.1` is pipeline 1 of shape `odd`, where a proof looks at one pipeline."
        if of_node
        else f" They are of {name}."
    )
    parts = [
        "# All proofs" if of_node else f"# All proofs of {name}",
        f"Written by `python -m cosim.formal --table`; [Proofs](proofs.md) tells what it means.{looked_at} "
        "Times are CPU seconds of the last run, all shapes and covers.",
        f"{len(book.proofs)} proofs, {sum(len(proof.cases) for proof in book.proofs)} cases.",
        "## Shapes",
        _table(
            ("name", "pipelines", "VFSMs", "schedule", "neighbours", "registers", "width"),
            [
                (name, s.pipelines, s.vfsms, s.schedule_depth, s.neighbours, s.registers, s.width)
                for name, s in book.shapes.items()
            ],
        )
        if of_node
        else _plain_shapes(book, FIELDS[book.block]),
    ]
    for family in dict.fromkeys(proof.family for proof in book.proofs):
        proofs = [proof for proof in book.proofs if proof.family == family]
        parts += [
            f"## {family}",
            f"`tests/formal/{book.block}/{family}.py`",
            _table(
                ("proof", "property", "mode", "assumes", "shapes", "covers within", "time"),
                [(*_row(proof), times.of(proof)) for proof in proofs],
            ),
        ]
    parts += [
        "## Mutants",
        f"Each of these {len(book.mutants)} faults is put into a copy of the RTL (`tests/formal/{book.block}/mutants.py`), and "
        "the proof beside it finds a counterexample from power-up.",
        _table(("mutant", "effect", "file", "found by"), [_mutant(mutant) for mutant in book.mutants]),
    ]
    return "\n\n".join(parts) + "\n"


NAMES = {
    "numesh": "the node",
    "tdm_switch": "the switch",
    "packet_router": "the packet router",
    "host": "the bridges to hosts",
}
FIELDS = {
    "tdm_switch": (
        *("ports", "slots", "order", "priority", "reserve", "sl_units", "sl_cycles", "slot_cycles", "guard_cycles"),
    ),
    "packet_router": ("size", "torus", "routing", "lanes", "buffer", "addresses", "queue", "width"),
    "host": ("nodes", "registers", "width", "blocked"),
}
"""Parameters of a block's shapes that the page shows."""


def _plain_shapes(book: Book, names: tuple[str, ...]) -> str:
    head = ("name", *(name.replace("_", " ") for name in names))
    return _table(head, [(name, *(getattr(s, field) for field in names)) for name, s in book.shapes.items()])


def _row(proof: Proof) -> tuple[str, ...]:
    quick = " (also in `make test-long`)" if proof.quick else ""
    return (
        f"`{proof.name}`{quick}",
        proof.sentence,
        proof.mode,
        proof.assumes or "–",
        ", ".join(map(str, proof.cases)),
        f"{proof.cover} cycles ({', '.join(map(str, proof.covered))})" if proof.cover else "–",
    )


def _mutant(mutant: Mutant) -> tuple[str, ...]:
    return mutant.name, mutant.effect, f"`{mutant.file}`", f"`{mutant.proof}` ({mutant.case})"


def _key(proof: Proof, case: Case) -> str:
    return f"{proof.name} {case}"


def _table(head: tuple[object, ...], rows: list[tuple[object, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
