"""The evaluation of the switch at many points of what its text leaves open; the program is ``evaluation/space.py``.

python benchmarks/tdm_space.py [--quick] [--into results.json]
"""

from __future__ import annotations

import sys

from evaluation.space import main

if __name__ == "__main__":
    sys.exit(main())
