"""Writes docs/commands.md: every command of ``pointsman`` with its options, from the commands themselves."""

from __future__ import annotations

from pathlib import Path

import click

from pointsman.cli import main

PAGE = Path(__file__).with_name("commands.md")


def options_table(command: click.Command, context: click.Context) -> list[str]:
    """Rows of a Markdown table: option, meaning with default."""
    rows = ["| option | meaning |", "|---|---|"]
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            name, text = (one.replace("|", "\\|").replace("\n", " ") for one in record)
            rows.append(f"| `{name}` | {text.replace('<', '&lt;')} |")
    return rows


def page() -> str:
    """The whole page."""
    lines = [
        "# Commands",
        "",
        "Made by `docs/make_commands.py` from the commands themselves; `pointsman COMMAND --help` prints the same.",
    ]
    for name in sorted(main.commands):
        command = main.commands[name]
        context = click.Context(command, info_name=f"pointsman {name}")
        text = (command.help or "").replace("\b", "").strip()
        about, _, example = text.partition("Example")
        usage = " ".join(["pointsman", name, *command.collect_usage_pieces(context)])
        paragraphs = [" ".join(one.split()) for one in about.strip().split("\n\n")]
        lines += ["", f"## {name}", "", f"    {usage}"]
        lines += [line for paragraph in paragraphs for line in ("", paragraph)]
        shown = [line.strip() for line in example.splitlines() if line.strip().startswith("pointsman")]
        if shown:
            lines += ["", "```text", *shown, "```"]
        lines += ["", *options_table(command, context)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
