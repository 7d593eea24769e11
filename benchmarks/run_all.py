"""Run every benchmark and keep what it prints in ``benchmarks/results/``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ELSEWHERE = {Path(__file__).name, "fpga.py", "tdm_synth.py"}
"""Programs that are not run from here: this one, and what takes long (``make fpga``; ``tdm_synth.py``)."""


def main() -> int:
    failed = 0
    (HERE / "results").mkdir(exist_ok=True)
    for program in sorted(HERE.glob("*.py")):
        if program.name in ELSEWHERE:
            continue
        print(f"{program.name} …", flush=True)
        done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)
        if done.returncode:
            failed += 1
            print(done.stderr, file=sys.stderr)
            continue
        target = HERE / "results" / f"{program.stem}.json"
        target.write_text(done.stdout)
        print(f"  wrote {target.relative_to(HERE.parent)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
