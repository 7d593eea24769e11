"""Core files of FuseSoC are YAML that says what was given."""

from __future__ import annotations

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
