"""Run every benchmark and keep what it prints in ``benchmarks/results/``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ELSEWHERE = {Path(__file__).name, "fpga.py", "tdm_synth.py", "corpus.py", "gauss_where.py", "kept.py"}
"""Programs that are not run from here: this one, what takes long (``make fpga``; ``tdm_synth.py``), what measures nothing
without a file to compare with, or a size, and what others import."""


def main(folder: Path = HERE) -> int:
    failed = 0
    (folder / "results").mkdir(exist_ok=True)
    for program in sorted(folder.glob("*.py")):
        if program.name in ELSEWHERE:
            continue
        print(f"{program.name} …", flush=True)
        done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)
        if done.returncode:
            failed += 1
            print(done.stderr, file=sys.stderr)
            continue
        target = folder / "results" / f"{program.stem}.json"
        if done.stdout.strip():  # else it has kept its results itself, row by row
            target.write_text(done.stdout)
        print(f"  wrote {target}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
