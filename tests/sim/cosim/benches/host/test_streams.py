"""The bench of the streams in the second simulator."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from cosim.benches.__main__ import main


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="there is no Icarus Verilog")
def test_no_word_is_lost_between_streams_of_other_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--only", "host_streams", "--simulator", "icarus", "--seed", "5", "--folder", str(tmp_path)])
    told = capsys.readouterr().out
    assert status == 0, told
    assert re.search(r"[\d,]{3,} values compared, (\d+) of \1 bins covered: passed", told)
