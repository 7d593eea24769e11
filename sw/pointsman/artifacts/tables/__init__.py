"""Connection tables: what a compiled program gives to the time-multiplexed switch, with their file.

Start with ``tables``; docs/tdm_target.md describes the file.
"""

from __future__ import annotations

from .file import read_tables, tables_from_bytes, tables_to_bytes, write_tables
from .tables import ConnectionTables, Mode, OperatorTable, Pair, PhaseTable, WorkingSet

__all__ = [
    "ConnectionTables",
    "Mode",
    "OperatorTable",
    "Pair",
    "PhaseTable",
    "WorkingSet",
    "read_tables",
    "tables_from_bytes",
    "tables_to_bytes",
    "write_tables",
]
