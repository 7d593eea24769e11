"""Sphinx settings."""

import sys
from importlib.metadata import version as _version
from pathlib import Path

project = "Pointsman"
author = "The Pointsman developers"
copyright = "2026, the Pointsman developers"
release = _version("pointsman")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "Pointsman"
exclude_patterns = ["implementations_table.md"]  # included by implementations.md
autodoc_member_order = "bysource"
nitpicky = False


def setup(app):
    from pointsman.cop.lexer import CopLexer

    app.add_lexer("cop", CopLexer)  # also found by its entry point, once installed
    app.connect("build-finished", make_shown_pages)


def make_shown_pages(app, exception):
    """The pages of ``pointsman show`` that show.md links to."""
    if exception is None and app.builder.format == "html":
        sys.path.insert(0, str(Path(__file__).parent))
        from make_shown import make_pages

        make_pages(Path(app.outdir, "shown"))
