"""The switch against wormhole and circuit switching; the program is ``evaluation/tdm.py``.

    python benchmarks/tdm_switch.py [--quick] [--pictures docs/pictures] [--results benchmarks/results/tdm_switch.json]

This file has the name of a package of the hardware, and Python looks into the folder of the program that it runs first. So when a
program of this folder imports ``tdm_switch``, this file gives it the package.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent

if __name__ == "__main__":
    from evaluation.tdm import main

    sys.exit(main())
else:
    spec = PathFinder.find_spec(__name__, [entry for entry in sys.path if Path(entry or ".").resolve() != HERE])
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no package {__name__}")
    sys.modules[__name__] = module_from_spec(spec)
    spec.loader.exec_module(sys.modules[__name__])
