"""Verilator's C++ of one block, made into C++ that does many blocks at once.

Takes the class and the functions that Verilator wrote for the wrapper of one block. Gives a header with ``Lanes``, in
which every variable is an array with an element per block, and functions in which every statement is a loop over the
blocks. The compiler turns the loops into vector instructions, so that a statement costs hardly more for 64 blocks
than for one, and the code is the same for any number of blocks and any network between them.

What Verilator's statements mean is left alone: each is copied as it is, with ``[l]`` behind the names of variables. With
``even`` small variables are kept in 32 bits each, for groups of blocks that fill one vector so: then no statement has to widen
or narrow anything. Verilator masks a variable unless its type does it; those that are as wide as their type are masked here. A
construct that is not known here raises `LanesError`; the caller then builds in the ordinary way. Memories, and variables that
do not fit 32 bits, are brought into other forms before (``lanes_memory.py``, ``lanes_narrow.py``).

Non-goals: blocks in which an output depends on an input in the same cycle, which one pass over all blocks cannot settle.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass, replace

from .lanes_memory import closing, taken_out, write_of
from .lanes_narrow import narrowed
from .lanes_variables import TYPES, LanesError, Variable, in_32_bits, variables_of

__all__ = ["LanesError", "lanes_header", "linked_statements"]

_NAME = re.compile(r"\bvlSelfRef\.(\w+)|\b([A-Za-z_]\w*)\b")
_KNOWN_CALLS = re.compile(
    r"VL_(?:SHIFT[LR]S?|EXTENDS?|REDXOR|RED\w+|ONEHOT0?|COUNTONES|CONCAT|REPLICATE)_\w+|VL_REDXOR_\d+"
)


@dataclass(frozen=True)
class Part:
    """Statements of Verilator's, with the variables of their own that they have: dimensions, and declarations."""

    local: dict[str, int]
    declared: list[str]
    statements: list[str]

    def lines(self, state: dict[str, Variable], scratch: dict[str, int]) -> list[str]:
        loops = [_loop(statement, state, self.local | scratch) for statement in self.statements]
        return ["    {", *self.declared, *loops, "    }"]


def lanes_header(
    header: str,
    source: str,
    triggers: str,
    link: str,
    clock: str,
    *,
    even: bool = False,
    seen: Container[str] | None = None,
) -> str:
    """The header with ``Lanes`` and its functions ``lanes_link`` and ``lanes_cycle``.

    Parameters
    ----------
    header, source, triggers : str
        Text of Verilator's files: the class of the top module, its functions, and those that name the triggers.
    link, clock : str
        Names of the triggers, such as "@(posedge clk)". ``lanes_link`` takes over the inputs and settles what depends on
        them; ``lanes_cycle`` does so too, and then the clock's edge, and settles what depends on registers alone.
    even : bool
        Keep variables of fewer bits in 32.
    seen : container of str
        Variables that somebody looks at between cycles; None: all. Others are kept only if a cycle needs those of the last.
    """
    linked, clocked, declared = _halves(source, triggers, link, clock, even)
    variables = variables_of(header)
    if seen is not None:
        linked, clocked, variables = _narrowed(linked, clocked, variables, seen)
    variables = [in_32_bits(variable) if even else variable for variable in variables]
    state = {variable.name: variable for variable in variables}
    texts = [statement for part in (*linked, *clocked) for statement in part.statements]
    passing = [] if seen is None else _passing(texts, [v for v in variables if not v.dimensions and v.name not in seen])
    scratch = {variable.name: 0 for variable in passing}
    variables = [variable for variable in variables if variable.name not in scratch]
    declared += [variable.declaration for variable in passing]
    link_lines = [line for part in linked for line in part.lines(state, scratch)]
    clock_lines = [line for part in clocked for line in part.lines(state, scratch)]
    return "\n".join(
        [
            "#pragma once",
            "#include <cstddef>",
            "#include <cstdint>",
            '#include "lanes_memory.h"',
            "struct alignas(64) Lanes {",
            *(variable.declaration for variable in variables),
            "};",
            "static void lanes_link(Lanes& __restrict S) {",
            *declared,
            *link_lines,
            "}",
            "static void lanes_cycle(Lanes& __restrict S) {",
            *declared,
            *link_lines,
            *clock_lines,
            "}",
            "template <class Root> void lanes_load(Lanes& S, const Root& root) {",
            "    for (int l = 0; l < LANES; ++l) {",
            *(f"        {variable.load}" for variable in variables),
            "    }",
            "}",
            "template <class Root> void lanes_store(const Lanes& S, unsigned l, Root& root) {",
            *(f"    {variable.store}" for variable in variables),
            "}",
            "struct Field { const char* name; std::size_t offset; unsigned bytes, rows, words; };",
            "static const Field fields[] = {",
            *(f"    {variable.field}," for variable in variables),
            "};",
            "",
        ]
    )


def _halves(source: str, triggers: str, link: str, clock: str, even: bool) -> tuple[list[Part], list[Part], list[str]]:
    """What is done when the inputs are there, and at the clock's edge, in order.

    Small functions stand in the evaluation itself, where their statements share its variables: their declarations.
    """
    bits = {}
    pattern = r"'act' region.*?|index (\d+) is active: ([^\\]+)\\n"
    for found in re.finditer(pattern, _function(triggers, r"\w*___dump_triggers__act", cold=True)[1]):
        if found[1] is not None:
            bits[found[2]] = 1 << int(found[1])
    if set(bits) != {link, clock}:
        raise LanesError(f"triggers are {', '.join(bits)}")
    linked: list[Part] = []
    clocked: list[Part] = []
    local_text, body = _function(source, r"\w*___eval_nba")
    local, declared = _locals(local_text, even)
    for statement in _statements(body):
        match = re.match(r"if \(\((\d+)ULL & vlSelfRef\.__VnbaTriggered\[0U\]\)\) \{(.*)\}\s*$", statement, re.S)
        if match is None:
            raise LanesError(f"evaluation does more than expected: {statement[:80]}")
        # What depends on inputs and registers is settled when the inputs are there.
        half = clocked if int(match[1]) == bits[clock] else linked
        for part in _statements(match[2]):
            call = re.fullmatch(r"(\w+)\(vlSelf\);", part)
            if call is None:
                half.append(Part(local, [], [part]))
                continue
            text, inner = _function(source, re.escape(call[1]))
            half.append(Part(*_locals(text, even), _statements(inner)))
    for name in local:
        word = re.compile(rf"\b{name}\b")
        own = ([part for part in half if part.local is local] for half in (linked, clocked))
        if all(any(word.search(line) for part in half for line in part.statements) for half in own):
            raise LanesError(f"{name} goes from one half of the cycle to the other")
    return linked, clocked, declared


def linked_statements(source: str, triggers: str, link: str, clock: str) -> list[str]:
    """All that Verilator runs when inputs have changed, in order."""
    linked, _, _ = _halves(source, triggers, link, clock, even=False)
    return [statement for part in linked for statement in part.statements]


def _narrowed(
    linked: list[Part], clocked: list[Part], variables: list[Variable], seen: Container[str]
) -> tuple[list[Part], list[Part], list[Variable]]:
    """Parts and variables in their narrow forms."""
    texts, variables = narrowed(["\n".join(part.statements) for part in (*linked, *clocked)], variables, seen)
    parts = [replace(part, statements=_statements(text)) for part, text in zip((*linked, *clocked), texts, strict=True)]
    return parts[: len(linked)], parts[len(linked) :], variables


def _passing(statements: list[str], variables: list[Variable]) -> list[Variable]:
    """Those of the variables that are assigned in every cycle before they are used in it."""
    first: dict[str, bool] = {}
    for statement in statements:
        names = re.findall(r"\bvlSelfRef\.(\w+)", statement)
        whole = re.match(r"vlSelfRef\.(\w+)\s*=(?!=)", statement)
        for name in names:
            first.setdefault(name, whole is not None and name == whole[1] and names.count(name) == 1)
    return [variable for variable in variables if first.get(variable.name, False)]


def _function(source: str, pattern: str, *, cold: bool = False) -> tuple[str, str]:
    """Local variables and statements of a function."""
    before = "(?:VL_ATTR_COLD )?" if cold else ""
    match = re.search(rf"^{before}void {pattern}\([^;{{]*\) \{{\n(.*?)^\}}\n", source, re.M | re.S)
    if match is None:
        raise LanesError(f"there is no function {pattern}")
    declared, _, body = match[1].rpartition("// Body\n")
    return declared, body


def _loop(statement: str, state: dict[str, Variable], local: dict[str, int]) -> str:
    """A statement as a loop over the lanes; what it does with memories stands apart."""
    memories = {v.name: v.rows for v in state.values() if v.memory_rows and not v.words}
    write = write_of(statement, memories)
    lines: list[str] = []
    # Conditions are kept in 32 bits; those that Verilator makes for writes at the clock's edge have one.
    on = "" if write is None else write.on.removeprefix("vlSelfRef.")
    if write is not None and not (state[on].bits <= 32 if on in state else on.startswith("__VdlySet")):
        write = None
    if write is not None:
        word = f"{state[write.memory].type} __word[LANES];"
        lines.append(f"uint32_t __on[LANES], __row[LANES]; {word}")
        statement = f"__on = {write.on}; __row = {write.row}; __word = {write.word};"
        local = {**local, "__on": 0, "__row": 0, "__word": 0}
    reads, statement = taken_out(statement, memories)
    local = local | {read.name: 0 for read in reads}
    for number, read in enumerate(reads):
        rows = memories[read.memory]
        row = _lane(read.row, state, local)
        within = f"({row}) & {rows - 1}U" if rows & (rows - 1) == 0 else f"({row}) < {rows}U ? ({row}) : 0U"
        lines.append(f"uint32_t __at_{number}[LANES]; {state[read.memory].type} {read.name}[LANES];")
        lines.append(f"for (int l = 0; l < LANES; ++l) {{ __at_{number}[l] = {within}; }}")
        lines.append(f"lanes_read({read.name}, S.{read.memory}, __at_{number});")
    lines.append(f"for (int l = 0; l < LANES; ++l) {{ {_cut(_lane(statement, state, local), state)} }}")
    if write is not None:
        lines.append(f"lanes_write(S.{write.memory}, __on, __row, __word);")
    if len(lines) == 1:
        return f"    {lines[0]}"
    return "\n".join(["    {", *(f"        {line}" for line in lines), "    }"])


def _cut(text: str, state: dict[str, Variable]) -> str:
    """Statements with masks on what is assigned to variables that need it."""
    for name, variable in state.items():
        if variable.cut and name in text:
            assignment = rf"(\b{name}(?:\[[^=;]*\])*\[l\]\s*)=(?!=)([^;]*);"
            text = re.sub(assignment, rf"\1= {variable.cut} & (\2);", text)
    return text


def _locals(text: str, even: bool) -> tuple[dict[str, int], list[str]]:
    """Dimensions of a function's own variables, and their declarations."""
    local: dict[str, int] = {}
    lines = []
    for match in re.finditer(r"(CData|SData|IData|QData)/\*(\d+):0\*/ (\w+);", text):
        local[match[3]] = 0
        variable = Variable(match[3], TYPES[match[1]], bits=int(match[2]) + 1)
        wide = in_32_bits(variable)
        # One that its type cuts stays as it is.
        lines.append((wide if even and not wide.cut else variable).declaration)
    for match in re.finditer(r"VlWide<(\d+)>/\*[^*]*\*/ (\w+);", text):
        local[match[2]] = 1
        lines.append(f"    uint32_t {match[2]}[{match[1]}][LANES];")
    return local, lines


def _statements(body: str) -> list[str]:
    """Statements one below the other; an ``if`` with all its branches is one."""
    found = []
    at = 0
    while at < len(body):
        if body[at].isspace():
            at += 1
            continue
        begin = at
        if re.match(r"if \(", body[at:]):
            while True:
                at = closing(body, body.index("{", at)) + 1
                more = re.match(r"\s*else(?:\s+if \()?", body[at:])
                if more is None:
                    break
                at += more.end()
        elif re.match(r"(?:for|while|do|switch|goto|return|case)\b|\{|\w+:", body[at:]):
            raise LanesError(f"a statement of unknown kind: {body[at : at + 80]}")
        else:
            at = body.index(";", at) + 1
        found.append(body[begin:at])
    return found


def _lane(text: str, state: dict[str, Variable], local: dict[str, int]) -> str:
    """A statement or expression with the lane's index behind every variable."""
    parts: list[str] = []
    at = 0
    while True:
        match = _NAME.search(text, at)
        if match is None:
            parts.append(text[at:])
            return "".join(parts)
        parts.append(text[at : match.start()])
        at = match.end()
        member, bare = match[1], match[2]
        if member is None and bare not in local:
            if re.fullmatch(r"[CSIQ]Data|if|else|0x\w+|[0-9a-fA-FxUL]+|U|UL|ULL", bare) is None:
                if _KNOWN_CALLS.fullmatch(bare) is None:
                    raise LanesError(f"a word of unknown meaning: {bare}")
            parts.append(match[0])
            continue
        if member is not None and member not in state:
            raise LanesError(f"an unknown member: {member}")
        dimensions = state[member].dimensions if member is not None else local[bare]
        parts.append(f"S.{member}" if member is not None and member not in local else member or bare)
        for _ in range(dimensions):
            gap = re.match(r"\s*\[", text[at:])
            if gap is None:
                raise LanesError(f"{match[0]} is used as a whole")
            opening = at + gap.end() - 1
            end = closing(text, opening)
            parts.append(f"[{_lane(text[opening + 1 : end], state, local)}]")
            at = end + 1
        parts.append("[l]")
