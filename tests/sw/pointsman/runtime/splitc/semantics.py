"""What a Split-C program may do: every order in which its accesses can take effect, tried out one by one.

A naive machine, made from the definition alone (von Eicken 1993, §6.1.1): an issued get, put or store takes effect at any
time until the synchronisation that waits for it; a blocking access takes effect while its processor waits. Used as a judge:
what a run ends with must be among what this machine can end with.
"""

from __future__ import annotations

import random
from typing import Any

Op = tuple[Any, ...]
"""("put" | "store" | "write", cell, value), ("get" | "read", cell, register), ("add", cell, value, register), or ("sync",),
("barrier",), ("all_store_sync",)."""
State = tuple[Any, ...]
ALL = ("barrier", "all_store_sync")


def outcomes(programs: list[list[Op]], cells: int, registers: int) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All ends: values of the cells, and of the registers of all processors, processor by processor."""
    procs = len(programs)
    first: State = ((0,) * procs, (0,) * cells, (0,) * (procs * registers), ())
    seen, stack, ends = {first}, [first], set()
    while stack:
        state = stack.pop()
        following = list(_steps(state, programs, registers))
        if not following:
            places, memory, values, pending = state
            assert not pending
            assert all(place == len(program) for place, program in zip(places, programs, strict=True)), "stuck"
            ends.add((memory, values))
        for one in following:
            if one not in seen:
                seen.add(one)
                stack.append(one)
    return ends


def _set(values: tuple[int, ...], place: int, value: int) -> tuple[int, ...]:
    return (*values[:place], value, *values[place + 1 :])


def _steps(state: State, programs: list[list[Op]], registers: int) -> Any:
    places, memory, values, pending = state
    for place, effect in enumerate(pending):
        rest = pending[:place] + pending[place + 1 :]
        kind, proc, target, value = effect
        if kind in ("put", "store"):
            yield places, _set(memory, target, value), values, rest
        elif kind == "get":
            yield places, memory, values, tuple(sorted((*rest, ("arrive", proc, value, memory[target]))))
        else:
            yield places, memory, _set(values, proc * registers + target, value), rest
    at = [program[place] if place < len(program) else None for place, program in zip(places, programs, strict=True)]
    if at[0] is not None and at[0][0] in ALL and all(op == at[0] for op in at):
        if at[0][0] == "barrier" or not any(effect[0] == "store" for effect in pending):
            yield tuple(place + 1 for place in places), memory, values, pending
    for proc, op in enumerate(at):
        if op is None or op[0] in ALL:
            continue
        onward = _set(places, proc, places[proc] + 1)
        kind = op[0]
        if kind in ("put", "store", "get"):
            yield onward, memory, values, tuple(sorted((*pending, (kind, proc, op[1], op[2]))))
        elif kind == "write":
            yield onward, _set(memory, op[1], op[2]), values, pending
        elif kind == "read":
            yield onward, memory, _set(values, proc * registers + op[2], memory[op[1]]), pending
        elif kind == "add":
            after = _set(memory, op[1], memory[op[1]] + op[2])
            yield onward, after, _set(values, proc * registers + op[3], memory[op[1]]), pending
        elif not any(effect[1] == proc and effect[0] != "store" for effect in pending):
            yield onward, memory, values, pending


def random_programs(rng: random.Random, procs: int, cells: int, registers: int) -> list[list[Op]]:
    """A program for each processor, with the same operations of all of them. Values tell who wrote them."""
    programs: list[list[Op]] = [[] for _ in range(procs)]
    value = 0
    for part in range(rng.randint(1, 2)):
        for proc, program in enumerate(programs):
            for _ in range(rng.randint(0, 3)):
                value += 1
                cell, register = rng.randrange(cells), rng.randrange(registers)
                kind = rng.choice(("put", "put", "get", "get", "store", "store", "write", "read", "add", "sync"))
                if kind in ("put", "store", "write"):
                    program.append((kind, cell, 100 * (proc + 1) + value))
                elif kind in ("get", "read"):
                    program.append((kind, cell, register))
                elif kind == "add":
                    program.append((kind, cell, 1000, register))
                else:
                    program.append((kind,))
        if part == 0:
            kind = rng.choice(ALL)
            for program in programs:
                program.append((kind,))
    return programs
