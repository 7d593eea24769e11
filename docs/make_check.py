"""Write the table of the judge's rules into docs/check.md: `python docs/make_check.py [--check]`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).with_name("pictures")))

from make_rules import PICTURES

from pointsman.verify.report import RULES

PAGE = Path(__file__).with_name("check.md")
BEGIN, END = "<!-- rules -->\n", "<!-- end of rules -->\n"


def page() -> str:
    """The page with the table of today's rules."""
    before, rest = PAGE.read_text().split(BEGIN)
    _, after = rest.split(END)
    rows = [
        f"| *{name}* ![{PICTURES[name].says}](pictures/rules/{name}.svg) | {rule.law} | {rule.section} | "
        f"{', '.join(f'`{where}`' for where in rule.proved_in)} |\n"
        for name, rule in RULES.items()
    ]
    table = ["\n| rule | law | Metcalf 1997 | proved in `pointsman.verify` |\n", "|---|---|---|---|\n", *rows, "\n"]
    return before + BEGIN + "".join(table) + END + after


def main() -> int:
    made = page()
    if "--check" in sys.argv:
        return int(made != PAGE.read_text())
    PAGE.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
