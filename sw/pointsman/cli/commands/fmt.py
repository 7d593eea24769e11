"""``pointsman fmt``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pointsman.cli.options import EXIT_WRONG, FilePath, limit_option, limits_of, note
from pointsman.errors import PointsmanError
from pointsman.files import check_writable, write_whole


@click.command()
@click.argument("files", type=FilePath(), nargs=-1, required=True)
@click.option("--check", is_flag=True, help="Write nothing; name the files that would change, with exit status 1.")
@limit_option
@click.pass_context
def fmt(ctx: click.Context, files: tuple[Path, ...], check: bool, limits: tuple[str, ...]) -> None:
    """Lay out COP FILES anew, in place; - reads standard input and prints.

    Comments and the order of everything stay, so the program stays the same. If one of the files is wrong, none is
    written.

    \b
    Example:
      pointsman fmt examples/matmul/matmul.cop
    """
    from pointsman.cop.compile import read_file
    from pointsman.cop.text.layout import lay_out

    bounds = limits_of(limits)
    changed: list[tuple[Path, str]] = []
    for path in dict.fromkeys(files):
        if str(path) == "-":
            try:
                text = sys.stdin.buffer.read().decode()
            except UnicodeDecodeError as error:
                raise PointsmanError(f"standard input is no UTF-8 text: byte {error.start} is wrong") from None
            laid = lay_out(text, file="<stdin>", limits=bounds)
            if not check:
                sys.stdout.buffer.write(laid.encode())
                sys.stdout.buffer.flush()
        else:
            text, name = read_file(path, bounds)
            laid = lay_out(text, file=name, limits=bounds)
        if laid != text:
            changed.append((path, laid))
    on_disk = [(path, laid) for path, laid in changed if str(path) != "-"]
    if check:
        for path, _ in changed:
            click.echo(f"{path} would change")
        if changed:
            ctx.exit(EXIT_WRONG)
        return
    for path, _ in on_disk:
        check_writable(path.resolve())
    for path, laid in on_disk:
        target = path.resolve()  # a symbolic link stays one
        mode = target.stat().st_mode
        write_whole(target, laid)
        target.chmod(mode & 0o7777)
        note(f"laid out {path}")
