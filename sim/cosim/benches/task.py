"""Arguments of a bench's run, passed from the process that starts the simulator to the bench inside it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from .bench import Bench

TASK_VARIABLE = "POINTSMAN_BENCH"
"""Environment variable with the task of a run, as JSON."""


@dataclass(frozen=True)
class Task:
    """Arguments of a bench's run.

    Parameters
    ----------
    bench : str
        Name of the bench.
    seed : int
        Seed of all its randomness.
    folder : str
        Folder of the files prepared for the bench.
    outcome : str
        File for the report.
    """

    bench: str
    seed: int
    folder: str
    outcome: str

    @classmethod
    def given(cls) -> Task:
        """The task of this run, from the environment."""
        return cls(**json.loads(os.environ[TASK_VARIABLE]))

    def random(self, purpose: str) -> Random:
        """A separate random generator for each purpose, from the run's seed."""
        return Random(f"{self.seed} {self.bench} {purpose}")

    def among(self, benches: Sequence[Bench]) -> Bench:
        """The bench of this run, out of ``benches``."""
        return next(bench for bench in benches if bench.name == self.bench)

    @property
    def prepared(self) -> Path:
        """Folder of the files that were prepared."""
        return Path(self.folder)
