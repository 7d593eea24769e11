"""The header of a program in C: load, write, read and func of each operator (Metcalf 1997, §2.7), and what combines messages."""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.artifacts.images.images import Images, OperatorImage
from pointsman.program.catalogue import ITEM_FUNCTIONS, OPERATORS

from .entries import Entry, NotInCError, functions_of, operands_of
from .text import identifier, string

TYPES = {"int32": "int32_t", "int64": "int64_t", "float32": "float", "float64": "double"}
UNSIGNED = {"int32": "uint32_t", "int64": "uint64_t"}
SORTS = {
    "node": "a node of the subset",
    "distance": "a distance",
    "function": "combines messages",
}

_ITEMWISE = """\
static inline void {name}(const pm_word *a, const pm_word *b, pm_word *out, uint32_t words)
{{
    union {{ {type} v; uint32_t w[{count}]; }} x, y, z;
    uint32_t k, i;
    for (k = 0; k < words; k += {count}) {{
        for (i = 0; i < {count}; i++) {{
            x.w[i] = a[k + i];
            y.w[i] = b[k + i];
        }}
        z.v = {expression};
        for (i = 0; i < {count}; i++)
            out[k + i] = z.w[i];
    }}
}}
"""
_ARRAYS = """\
/* Of the application: combines `items` items of an earlier and a later message; `out` may be one of them. */
void {function}(const {type} *a, const {type} *b, {type} *out, uint32_t items);
static inline void {name}(const pm_word *a, const pm_word *b, pm_word *out, uint32_t words)
{{
    {function}((const {type} *)(const void *)a, (const {type} *)(const void *)b, ({type} *)(void *)out, words / {count});
}}
"""


def functions_header(images: Images, entries: Sequence[Entry], name: str) -> str:
    """The header ``NAME.h``: functions of every operator and loop, and the nodes' tables."""
    guard = f"{name.upper()}_H"
    lines = [
        f"/* Functions of the COP program {_comment(images.name)}, for {len(images.nodes)} nodes.",
        " *",
        " * Each is for nodes of the operator's subset, and returns when its words have moved. `cop` is the node's state.",
        " */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        '#include "pm.h"',
        "",
        "/* Tables of each node, and of all by number. */",
        *(f"extern const struct pm_node {name}_node_{node};" for node in range(len(images.nodes))),
        f"extern const struct pm_node *const {name}_nodes[{len(images.nodes)}];",
        "",
        "/* Before anything else, on every node; `port` as in pm_port.h. */",
        "static inline void cop_init(struct pm *cop, const struct pm_node *node, void *port)",
        "{",
        "    pm_init(cop, node, port);",
        "}",
        "",
        "/* At the end, on every node. */",
        "static inline void cop_fini(struct pm *cop)",
        "{",
        "    pm_fini(cop);",
        "}",
        "",
    ]
    combiners: dict[tuple[str, str], str] = {}
    for number, entry in enumerate(entries):
        operator = images.operators[entry.operators[0]]
        lines += _combiner(operator, combiners)
        lines += _functions(images, entry, number, operator, combiners)
    for label in images.loops:
        lines += [
            f"/* Loop '{_comment(label)}': nothing to load ahead. */",
            f"static inline void {identifier(label)}_load(struct pm *cop)",
            "{",
            "    (void)cop;",
            "}",
            "",
        ]
    return "\n".join([*lines, "#endif", ""])


def _comment(text: str) -> str:
    return text.replace("*/", "* /").replace("/*", "/ *")


def _type_of(operator: OperatorImage) -> tuple[str, str, bool]:
    """Type of its items in COP and in C; is a message an array?"""
    base = operator.type.rstrip("*")
    return base, TYPES[base], operator.type.endswith("*")


def _function_of(operator: OperatorImage) -> str | None:
    """Name of the function that it combines messages with; None: it combines none, or is told at run time."""
    combines = any(one.sort == "function" for one in OPERATORS[operator.kind].operands)
    if not combines or any(sort == "function" for _, sort in operands_of(operator)):
        return None
    return operator.function or "add"


def _combiner(operator: OperatorImage, made: dict[tuple[str, str], str]) -> list[str]:
    """The functions with which an operator may combine words, but for those that are there already; ``made`` gets their names."""
    lines: list[str] = []
    base, kind, array = _type_of(operator)
    at_run_time = any(sort == "function" for _, sort in operands_of(operator))
    known = ("add", "mul", "min", "max") if at_run_time else (_function_of(operator),)
    for function in known:
        if function is None or (function, operator.type) in made:
            continue
        count = 2 if base.endswith("64") else 1
        suffix = f"{base}s" if array and function not in ITEM_FUNCTIONS else base
        name = f"pm_{identifier(function)}_{suffix}"
        if name not in made.values():
            given = f"{identifier(function)}_{suffix}"
            if function in ITEM_FUNCTIONS:
                expression = _expression(operator, function, base, kind)
                text = _ITEMWISE.format(name=name, type=kind, count=count, expression=expression)
            elif array:
                text = _ARRAYS.format(name=name, function=given, type=kind, count=count)
            else:
                about = "/* Of the application: combines an earlier and a later item. */"
                text = f"{about}\n{kind} {given}({kind} a, {kind} b);\n" + _ITEMWISE.format(
                    name=name, type=kind, count=count, expression=f"{given}(x.v, y.v)"
                )
            lines += [*text.splitlines(), ""]
        made[function, operator.type] = name
    return lines


def _expression(operator: OperatorImage, function: str, base: str, kind: str) -> str:
    whole = UNSIGNED.get(base)
    sign = {"add": "+", "sum": "+", "mul": "*"}.get(function)
    if sign is not None:
        return f"({kind})(({whole})x.v {sign} ({whole})y.v)" if whole else f"x.v {sign} y.v"
    if function in ("min", "max"):
        than = "<" if function == "min" else ">"
        plain = f"y.v {than} x.v ? y.v : x.v"
        # As numpy: what is no number wins.
        return plain if whole else f"x.v != x.v ? x.v : y.v != y.v || y.v {than} x.v ? y.v : x.v"
    if whole is None:
        raise NotInCError(f"{operator.source}: operator '{operator.label}' cannot combine {base} items with {function}")
    return f"x.v {dict(zip(('and', 'or', 'xor'), '&|^', strict=True))[function]} y.v"


def _functions(
    images: Images, entry: Entry, number: int, operator: OperatorImage, combiners: dict[tuple[str, str], str]
) -> list[str]:
    _, kind, array = _type_of(operator)
    operands = operands_of(operator)
    name, lines = entry.name, []
    partial = operator.partial or operator.remote
    message = f"a message has {operator.m} words" if operator.kind != "barrier" else "no message"
    lines += [f"/* {operator.kind} '{_comment(entry.label)}' ({_comment(operator.source)}): {message}.", " *"]
    values = []
    arguments, combine = ["struct pm *cop"], None
    for operand, sort in operands:
        argument = identifier(operand)
        known = "; PM_HERE: this node, PM_UNKNOWN: not known here" if partial and sort == "node" else ""
        lines.append(f" * {argument}: {SORTS.get(sort, sort)}{known}.")
        if sort == "function":
            arguments.append(f"pm_combine {argument}")
            combine = argument
        else:
            arguments.append(f"int32_t {argument}")
            values.append(argument)
    lines += [" */"]
    load = []
    if combine:
        load += [f"    if (!{combine})", f"        pm_panic(cop, PM_E_VALUE, {string(entry.label)});"]
        load += [f"    cop->combines[{number}] = {combine};"]
    given = "values" if values else "0"
    if values:
        load.insert(0, f"    const int32_t values[] = {{{', '.join(values)}}};")
    lines += [
        f"static inline void {name}_load({', '.join(arguments)})",
        "{",
        *load,
        f"    pm_load(cop, {number}, {given});",
        "}",
    ]
    for function in functions_of(operator):
        lines += _io(function, name, number, operator, kind, array, combiners)
    return [*lines, ""]


def _io(
    function: str,
    name: str,
    number: int,
    operator: OperatorImage,
    kind: str,
    array: bool,
    combiners: dict[tuple[str, str], str],
) -> list[str]:
    out, into = "(const pm_word *)(const void *)", "(pm_word *)(void *)"
    if operator.kind == "barrier":
        head, body = f"void {name}_func(struct pm *cop)", [f"(void)pm_func(cop, {number}, 0, 0, 0);"]
    elif function == "write":
        head = f"void {name}_write(struct pm *cop, {f'const {kind} *message' if array else f'{kind} value'})"
        body = [f"pm_write(cop, {number}, {out}{'message' if array else '&value'});"]
    elif function == "read" and array:
        head, body = (
            f"int {name}_read(struct pm *cop, {kind} *message)",
            [f"return pm_read(cop, {number}, {into}message);"],
        )
    elif function == "read":
        head = f"{kind} {name}_read(struct pm *cop)"
        body = [f"{kind} value = 0;", f"(void)pm_read(cop, {number}, {into}&value);", "return value;"]
    else:
        combine = combiners.get((_function_of(operator) or "", operator.type), "0")
        if array:
            head = f"int {name}_func(struct pm *cop, const {kind} *message, {kind} *received)"
            body = [f"return pm_func(cop, {number}, {out}message, {into}received, {combine});"]
        else:
            head = f"{kind} {name}_func(struct pm *cop, {kind} value)"
            body = [
                f"{kind} received = 0;",
                f"(void)pm_func(cop, {number}, {out}&value, {into}&received, {combine});",
                "return received;",
            ]
    return [f"static inline {head}", "{", *(f"    {line}" for line in body), "}"]
