"""The files of a program in C, and the compiler of RISC-V takes them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from numesh.shape import NodeShape
from pointsman.artifacts.images.file import read_images
from pointsman.cli import main
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.c.entries import NotInCError, entries_of
from pointsman.targets.c.program import c_files
from pointsman.targets.numesh import make_images

TEXT = """(loop 'l 3 (broadcast 'b (runtime) :m 5) (cshift 'c 1 :m 5) (allreduce 's 'max :m 4 :type 'float64*))
(stream 'long 0 1 :m 70000)"""


def files_of(**shape: int) -> dict[str, str]:
    program = compile_text(TEXT, topology=mesh(2, 1))
    return c_files(make_images(make_plan(program, NodeShape(**shape), name="two words")))


@pytest.mark.parametrize(
    "shape", [{}, {"schedule_depth": 1024, "vfsms": 256}], ids=["standard", "commands of two words"]
)
def test_riscv_compiler_takes_every_file_without_a_warning(tmp_path: Path, shape: dict[str, int]):
    texts = files_of(**shape)
    assert {"pm.h", "pm.c", "pm_port.h", "pm_sizes.h", "two_words.h", "two_words_nodes.c", "two_words_node_1.c"} <= set(
        texts
    )
    assert f"#define PM_COMMAND_WORDS {2 if shape else 1} " in texts["pm_sizes.h"]
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "all.c").write_text(
        "".join(f'#include "{name}"\n' for name in ("pm.c", "two_words.h", "two_words_nodes.c"))
    )
    command = [sys.executable, "-m", "ziglang", "cc", "--target=riscv32-freestanding-none", "-mcpu=generic_rv32+m"]
    flags = ["-std=c99", "-ffreestanding", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O2"]
    port = ["-DPM_PRELOADED", "-DPM_TIME=0x20000"]
    folders = {"ZIG_GLOBAL_CACHE_DIR": str(tmp_path), "ZIG_LOCAL_CACHE_DIR": str(tmp_path), "HOME": str(tmp_path)}
    for source in ("all.c", "two_words_node_1.c"):
        done = subprocess.run(
            [*command, *flags, *port, "-c", source, "-o", f"{source}.o"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={"PATH": "/usr/bin:/bin", **folders},
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
@pytest.mark.parametrize(
    ("defined", "said"),
    [
        ("PM_LOCAL=255", ""),
        ("PM_LOCAL=256", "PM_LOCAL must be 1 to 255"),
        ("PM_LOCAL=0", "PM_LOCAL must be 1 to 255"),
        ("PM_PACE=0", "PM_PACE must be 1 or more"),
        ("PM_SLACK=-1", "PM_SLACK 0 or more"),
        ("PM_STATISTICS", ""),
    ],
)
def test_bounds_that_the_driver_cannot_keep_are_errors(tmp_path: Path, defined: str, said: str):
    """Messages to itself are counted in a byte."""
    for name, text in files_of().items():
        (tmp_path / name).write_text(text)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-DPM_PORT_EXTERN", f"-D{defined}", "-fsyntax-only"]
    done = subprocess.run(["gcc", *flags, "pm.c"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (said == "")
    assert said in done.stderr


def test_words_of_other_widths_are_refused():
    with pytest.raises(NotInCError, match="words must have 32 bits for a driver in C, not 64"):
        files_of(width=64)


def test_the_command_writes_a_folder(tmp_path: Path):
    source = tmp_path / "p.c"
    source.write_text(";/*\n(broadcast 'b 0 :m 4)\n*/\nint main(void) { return 0; }\n")
    arguments = ["compile", str(source), "--mesh", "2x1", "--emit", "c"]
    done = CliRunner().invoke(main, [*arguments, "-o", str(tmp_path / "new" / "c")])
    assert done.exit_code == 0, done.output
    assert "wrote 9 files into" in done.output
    assert (tmp_path / "new" / "c" / "p.h").read_text().count("static inline void b_load(") == 1
    assert read_images(tmp_path / "new" / "c" / "p.image").name == "p"


def test_the_command_chooses_what_the_driver_can_carry_out(tmp_path: Path):
    """Without C the gather is done by messages, and the reduction by two other operators."""
    (tmp_path / "p.cop").write_text("(gather 'g 2 :m 64) (allreduce 'a 'f :m 64)\n")
    arguments = ["compile", str(tmp_path / "p.cop"), "--mesh", "5x1"]
    plain = CliRunner().invoke(main, arguments)
    assert "dyn_gather" in plain.output
    done = CliRunner().invoke(main, [*arguments, "--emit", "c", "-o", str(tmp_path / "c")])
    assert done.exit_code == 0, done.output
    assert "dyn_" not in done.output
    entries_of(read_images(tmp_path / "c" / "p.image"))


def test_what_it_cannot_carry_out_is_refused_before_anything_is_planned(tmp_path: Path):
    (tmp_path / "p.cop").write_text("(stream 's 0 (runtime :dynamic t))\n")
    done = CliRunner().invoke(
        main, ["compile", str(tmp_path / "p.cop"), "--mesh", "5x1", "--emit", "c", "-o", str(tmp_path / "c")]
    )
    assert done.exit_code == 2
    assert done.output.splitlines() == [
        f"pointsman: {tmp_path}/p.cop:1:1: operator 's' cannot be done by the driver in C: "
        "dyn_stream has messages that processors pass on",
        "  hint: leave out :distributed and :dynamic, or give its destination in the program",
    ]
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "--emit c writes several files"),
        (["--target", "tdm", "-o", "c"], "--emit c is a stage of target numesh, not of tdm"),
        (["-o", "p.cop"], "p.cop is no folder"),
    ],
)
def test_what_has_no_place_is_refused_before_anything_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str], said: str
):
    monkeypatch.chdir(tmp_path)
    Path("p.cop").write_text("(barrier 'b)")
    done = CliRunner().invoke(main, ["compile", "p.cop", "--mesh", "2x1", "--emit", "c", *more])
    assert done.exit_code == 2
    assert said in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["p.cop"]
