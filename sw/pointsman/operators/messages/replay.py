"""Scripts run without any network: the simplest machine that carries messages.

Takes the script of every node and what the application gives to each call. Gives what the calls return. Messages of
different senders or channels arrive in an order drawn from ``seed``; nothing is lost. Used to test scripts and whoever
carries them out.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Generator, Mapping, Sequence

import numpy as np

from .script import MESSAGE, Call, Combine, Exchange, Script, Send

Function = Callable[[np.ndarray, np.ndarray], np.ndarray]
Key = tuple[int, int, int]  # from, to, channel


class StuckError(Exception):
    """Nodes wait for messages that nobody sends."""


def replay(
    scripts: Mapping[int, Script],
    calls: Mapping[int, Sequence[tuple[str, np.ndarray | None]]],
    words: int,
    function: Function,
    *,
    dtype: type | np.dtype = np.int64,
    seed: int = 0,
) -> dict[int, list[np.ndarray | None]]:
    """Run ``calls`` (I/O function and message of each call, by node) and return what they return.

    Raises
    ------
    StuckError
        If nodes wait for ever.
    AssertionError
        If messages are left over at the end.
    """
    random = np.random.default_rng(seed)
    queues: dict[Key, deque[np.ndarray]] = defaultdict(deque)
    results: dict[int, list[np.ndarray | None]] = {node: [] for node in scripts}
    running = {
        node: _node(node, script, calls.get(node, ()), words, function, np.dtype(dtype), queues, results[node], random)
        for node, script in scripts.items()
    }
    waiting = list(running)
    while waiting:
        moved = False
        for node in random.permutation(waiting).tolist():
            try:
                moved |= next(running[node])
            except StopIteration:
                waiting.remove(node)
                moved = True
        if not moved:
            raise StuckError(f"nodes {sorted(waiting)} wait for messages that do not come")
    left = {key: len(queue) for key, queue in queues.items() if queue}
    assert not left, f"messages are left over: {left}"
    return results


def _node(
    node: int,
    script: Script,
    calls: Sequence[tuple[str, np.ndarray | None]],
    words: int,
    function: Function,
    dtype: np.dtype,
    queues: dict[Key, deque[np.ndarray]],
    results: list[np.ndarray | None],
    random: np.random.Generator,
) -> Generator[bool, None, None]:
    """One node; yields whether it has got on."""
    count: dict[str, int] = defaultdict(int)
    own: deque[np.ndarray] = deque()
    sent = [False]  # since it was asked last
    for name, message in calls:
        if script.local:
            if name == "write":
                assert message is not None
                own.append(message.copy())
                results.append(None)
            else:
                results.append(own.popleft())
            continue
        several = script.calls[name]
        call: Call = several[count[name] % len(several)]
        count[name] += 1
        slots = [np.zeros(words, dtype) for _ in range(max(2, script.slots))]
        if message is not None:
            slots[MESSAGE] = message.copy()

        def send(step: Send, slots: list[np.ndarray] = slots) -> None:
            data = slots[step.slot]
            queues[node, step.to, step.channel].append(data[: step.words].copy())
            sent[0] = True

        for step in call.steps:
            if isinstance(step, Combine):
                slots[step.into] = function(slots[step.left], slots[step.right])
                continue
            if isinstance(step, Send):
                send(step)
                continue
            if isinstance(step, Exchange):
                send(step.send)
                step = step.receive
            while True:
                keys = [
                    key
                    for key, queue in queues.items()
                    if queue and key[1:] == (node, step.channel) and step.source in (None, key[0])
                ]
                if keys:
                    break
                yield sent[0]
                sent[0] = False
            slots[step.slot] = queues[keys[int(random.integers(len(keys)))]].popleft()
            for onward in step.forward:
                send(onward)
            yield True
        results.append(None if call.result is None else slots[call.result])
