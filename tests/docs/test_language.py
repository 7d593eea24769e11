"""The language reference says what the language is, and every example in it runs."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from typing import Any

import pytest

from pointsman.cop import CopError, Group, Limits, Program, compile_file, compile_program, compile_text
from pointsman.cop.compile import FORMS, prelude
from pointsman.cop.evaluation.evaluator import Compound
from pointsman.cop.evaluation.geometry import NETWORK_VARIABLES
from pointsman.cop.library.library import LIBRARY
from pointsman.cop.mistakes import RULES
from pointsman.cop.text.layout import lay_out
from pointsman.network import mesh, parse_size
from pointsman.program.catalogue import OPERATORS
from pointsman.report.explain import explain_json, explain_text

ROOT = Path(__file__).resolve().parents[2]
FRONT = ROOT / "docs" / "language.md"
PAGES = {
    path.stem: path.read_text(encoding="utf-8") for path in [FRONT, *sorted((ROOT / "docs/language").glob("*.md"))]
}
ALL = "\n".join(PAGES.values())
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = [
    pytest.param(text, id=f"{page}-{number}")
    for page, body in PAGES.items()
    for number, text in enumerate(text for language, text in BLOCK.findall(body) if language == "cop")
]
PROSE = re.sub(r"^```.*?^```$", "", ALL, flags=re.MULTILINE | re.DOTALL)
WORDS = {word.strip("()',") for code in re.findall(r"`([^`]+)`", PROSE) for word in code.split()}
COMPOUND = [name for name, value in prelude()[1].values.items() if isinstance(value, Compound)]
OPERATOR_PAGES = ("broadcast", "reduce", "barrier", "shift", "stream", "spread", "compound")


def run(text: str) -> Program:
    """An example, on the mesh that its first line names, or 4x4."""
    size = re.match(r"; on (\S+)\n", text)
    return compile_text(text, topology=mesh(*parse_size(size[1] if size else "4x4")))


def functions(program: Program) -> list[str]:
    found = []
    for part, _ in program.root.walk():
        if not isinstance(part, Group):
            found += part.functions
        elif part.kind == "loop":
            found.append(f"{part.label}_load")
    return found


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_runs_and_generates_the_functions_that_it_names(text: str) -> None:
    program = run(text)
    if named := re.search(r"^; functions: (.*)$", text, re.MULTILINE):
        assert named[1].split() == functions(program)
    assert lay_out(text).count("(") == text.count("(")


def test_most_examples_name_their_functions() -> None:
    named = [text for (text,) in (example.values for example in EXAMPLES) if "; functions: " in str(text)]
    assert len(EXAMPLES) >= 35
    assert len(named) >= 0.8 * len(EXAMPLES)


@pytest.mark.parametrize("kind", [*OPERATORS, *COMPOUND])
def test_every_operator_has_an_example_on_a_page_of_operators(kind: str) -> None:
    texts = [text for page in OPERATOR_PAGES for language, text in BLOCK.findall(PAGES[page]) if language == "cop"]
    assert any(f"({kind} '" in text for text in texts)


@pytest.mark.parametrize(
    "word",
    ["loop", "sequential", "parallel", "doall", "optional", "phase", "subset", "runtime", "defaults", "parameter",
     "define-op", "call-op", ":type", ":m", ":c", ":pipelined", ":b", ":impl", ":valid", ":values", ":distributed",
     ":dynamic", ":block"],
)  # fmt: skip
def test_every_construct_and_argument_has_an_example(word: str) -> None:
    texts = [text for language, text in BLOCK.findall(ALL) if language == "cop"]
    assert any(re.search(rf"[( ]{re.escape(word)}[ )\n]", text) for text in texts)


@pytest.mark.parametrize("name", sorted({*FORMS, *LIBRARY, *NETWORK_VARIABLES, *COMPOUND, "*mode*", "*schedlen*"}))
def test_every_word_of_the_language_is_in_the_reference(name: str) -> None:
    assert name in WORDS


def test_operators_are_written_as_the_reference_says() -> None:
    for spec in OPERATORS.values():
        row = re.search(
            rf"^\| `{re.escape(spec.syntax)}` \| {spec.flow} \|([^|]*)\| \[", PAGES["language"], re.MULTILINE
        )
        assert row is not None, spec.syntax
        said = {name: set(sorts.strip().split(", ")) for name, sorts in re.findall(r"`(\w+)`: ([a-z, ]+)", row[1])}
        assert said == {o.name.upper(): set(o.runtime) for o in spec.operands if o.runtime}


def test_limits_in_the_reference_are_the_defaults() -> None:
    rows = dict(re.findall(r"\| `(\w+)` \| [^|]+ \| ([\d,]+) \|", PAGES["errors"]))
    assert {name: int(value.replace(",", "")) for name, value in rows.items()} == vars(Limits())


def test_warnings_in_the_reference_are_those_that_there_are() -> None:
    rows = dict(re.findall(r"^\| `([\w-]+)` \| ([^|]+) \|$", PAGES["errors"], re.MULTILINE))
    assert rows == RULES


def test_the_error_in_the_reference_is_what_is_printed() -> None:
    with pytest.raises(CopError, match="outside the subset") as caught:
        compile_text(
            "(loop 'mul 4\n  (subset '((0 1 2 3))\n    (broadcast 'b 9)))", file="matmul.cop", topology=mesh(4, 4)
        )
    assert _indented(str(caught.value)) in PAGES["errors"]


def test_the_error_of_python_in_the_reference_is_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "from pointsman import cop\n\n\ndef rows(net):\n    return cop.subset(net.make_1d('x'), row)\n\n"
        'def row(line):\n    return cop.gather("g", line.nodes)\n'
    )
    monkeypatch.setitem(linecache.cache, "app.py", (len(text), None, text.splitlines(True), "app.py"))
    space: dict[str, Any] = {}
    exec(compile(text, "app.py", "exec"), space)
    with pytest.raises(CopError) as caught:
        compile_program(space["rows"], topology=mesh(4, 4))
    assert _indented(str(caught.value)) in PAGES["python"]


def test_the_explanation_in_the_reference_is_what_is_printed() -> None:
    plain = explain_json(compile_file(ROOT / "examples/matmul/matmul.cop", topology=mesh(4, 4)))
    plain["file"] = "matmul.cop"
    assert _indented(explain_text(plain)) in PAGES["tools"]


def test_python_of_the_reference_runs() -> None:
    blocks = [text for language, text in BLOCK.findall(PAGES["python"]) if language == "python"]
    assert len(blocks) >= 5
    space: dict[str, Any] = {}
    for block in blocks:
        exec(block, space)
    assert space["program"].parameters == (("block", 100),)


def test_every_page_is_reachable_from_the_front() -> None:
    listed = re.findall(r"^language/(\w+)$", PAGES["language"], re.MULTILINE)
    assert sorted(listed) == sorted(set(PAGES) - {"language"})


def _indented(text: str) -> str:
    return "\n".join("    " + line if line else "" for line in text.split("\n"))
