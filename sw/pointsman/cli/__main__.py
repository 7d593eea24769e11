"""The command by ``python -m pointsman.cli``."""

from . import main

main()
