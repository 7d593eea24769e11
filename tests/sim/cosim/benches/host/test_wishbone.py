"""The Wishbone bench in the second simulator, which needs no C++ compiler and starts at once."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from cosim.benches.__main__ import main
from cosim.benches.host.catalogue import BENCHES


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="there is no Icarus Verilog")
@pytest.mark.parametrize("name", [bench.name for bench in BENCHES if bench.module == "host.wishbone"])
def test_no_word_is_lost_and_errors_are_answered(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--only", name, "--simulator", "icarus", "--seed", "5", "--folder", str(tmp_path)])
    told = capsys.readouterr().out
    assert status == 0, told
    assert re.search(r"[\d,]{3,} values compared, (\d+) of \1 bins covered: passed", told)
