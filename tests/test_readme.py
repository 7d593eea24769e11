"""What the README tells its reader to type works as it stands there."""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.cli import main

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")

BLOCK = re.compile(
    r"(?:^<!-- file: (?P<name>\S+) -->\n)?^```(?P<language>\S*)[^\n]*\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
BLOCKS = [match.groupdict() for match in BLOCK.finditer(README)]
FILES = {block["name"]: block["text"] for block in BLOCKS if block["name"]}


def _commands() -> list[str]:
    """Command lines of the console blocks, without prompts, comments and what is printed below a prompt."""
    commands = []
    for block in BLOCKS:
        if block["language"] not in ("console", "sh"):
            continue
        lines = block["text"].replace("\\\n", " ").splitlines()
        if any(line.startswith("$ ") for line in lines):
            lines = [line[2:] for line in lines if line.startswith("$ ")]
        commands += [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return commands


COMMANDS = _commands()
MAKE = [command for command in COMMANDS if command.startswith("make")]
OURS = [command for command in COMMANDS if re.match(r"(\S*/)?pointsman\b", command)]


def test_readme_has_commands_and_files_to_test() -> None:
    assert len(COMMANDS) >= 4
    assert MAKE
    assert OURS
    assert {Path(name).suffix for name in FILES} >= {".cop", ".py"}
    assert len(FILES) == README.count("<!-- file: ")


@pytest.mark.parametrize("command", MAKE)
def test_make_target_exists(command: str) -> None:
    listed = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    targets = set(re.findall(r"^  make ([a-z-]+) ", listed.stdout, re.MULTILINE))
    assert targets
    words = shlex.split(command, comments=True)[1:]
    assert [word for word in words if "=" not in word and word not in targets] == []


def test_commands_of_pointsman_succeed_in_their_order(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "build").mkdir()
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for command in OURS:
        words = shlex.split(command, comments=True)[1:]
        if words[0] == "run" and not any(word.split("=")[0] in ("--engine", "--dry") for word in words):
            words += ["--engine", "model"]
        with contextlib.chdir(tmp_path):
            result = CliRunner().invoke(main, words)
        assert result.exit_code == 0, f"{command}\n{result.output}"
        assert result.stdout.strip(), command
        for i, word in enumerate(words):
            if word in ("-o", "--output", "--json", "--readmemh"):
                assert (tmp_path / words[i + 1]).exists(), command


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#\s]+)", README))))
def test_link_leads_to_a_file(target: str) -> None:
    assert re.match(r"https?://", target) or (ROOT / target).exists()
