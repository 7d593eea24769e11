"""FuseSoC core files: what a Verilog file is called, where it is and which module is its top, for FuseSoC and edalize."""

from __future__ import annotations

from collections.abc import Sequence

VERSION = "0.1.0"


def core_file(name: str, about: str, files: Sequence[str], top: str, *, depends: Sequence[str] = ()) -> str:
    """A core file (CAPI2) with the targets *default*, to be used by other cores, and *lint*, which has Verilator read it.

    Parameters
    ----------
    name : str
        Of the core, letters, digits and ``_``: it becomes ``pointsman:noc:NAME``.
    about : str
        One line.
    files : sequence of str
        Verilog files, relative to the core file.
    top : str
        Module at the top.
    depends : sequence of str
        Other cores, by their whole names.
    """
    needs = [f"      - {_text(one)}" for one in depends]
    lines = [
        "CAPI=2:",
        f"name: {_text(f'pointsman:noc:{name}:{VERSION}')}",
        f"description: {_text(about)}",
        "filesets:",
        "  rtl:",
        "    files:",
        *(f"      - {_text(one)}" for one in files),
        "    file_type: verilogSource",
        *(["    depend:", *needs] if needs else []),
        "targets:",
        "  default:",
        "    filesets: [rtl]",
        f"    toplevel: {_text(top)}",
        "  lint:",
        "    default_tool: verilator",
        "    filesets: [rtl]",
        f"    toplevel: {_text(top)}",
        "    tools:",
        "      verilator:",
        "        mode: lint-only",
        "        verilator_options: [-Wno-fatal, -Wno-lint]",
        "",
    ]
    return "\n".join(lines)


def _text(value: str) -> str:
    """A string of YAML, quoted, so that nothing in it has a meaning."""
    return "'" + value.replace("'", "''") + "'"
