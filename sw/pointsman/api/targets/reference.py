"""``pointsman run --dry``: runs a program on the reference machine, without any hardware."""

from __future__ import annotations

import time

from pointsman.program.program import Program
from pointsman.runtime import Application
from pointsman.runtime.api.application import answer_of
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.target import TargetRun


def run_dry(program: Program, name: str, application: Application, compile_seconds: float) -> TargetRun:
    """Run an application's program, called ``name``. ``unread`` in the results: words that nobody has read;
    ``early``: loads that hardware may refuse."""
    started = time.perf_counter()
    done = ReferenceMachine(program, name, application.functions).run(application.main)
    answer, correct = answer_of(application, done.results)
    text = (
        f"{'right' if correct else 'WRONG'}: {answer}\n"
        f"without a network; {done.cycles} cycles of computation at the busiest node"
    )
    results = {
        "program": name,
        "target": "reference",
        "correct": correct,
        "answer": answer,
        "cycles_of_computation": done.cycles,
        "unread": list(done.unread),
        "early": list(done.early),
        "seconds": compile_seconds + time.perf_counter() - started,
    }
    return TargetRun(results, text, done)
