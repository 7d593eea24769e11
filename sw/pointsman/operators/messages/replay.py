"""Scripts run without any network: the simplest machine that carries messages.

Takes the script of every node and the messages that the application gives to each call; gives the messages that the calls
return. Messages of different senders or channels arrive in an order drawn from ``seed``; nothing is lost. Used to test scripts,
and as the expectation for targets that carry them out.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Generator, Mapping, Sequence

import numpy as np

from pointsman.artifacts.scripts import MESSAGE, Call, Combine, Exchange, Receive, Script, Send

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
    machine = _Machine(words, np.dtype(dtype), function, np.random.default_rng(seed))
    results: dict[int, list[np.ndarray | None]] = {node: [] for node in scripts}
    running = {node: machine.run(node, script, calls.get(node, ()), results[node]) for node, script in scripts.items()}
    waiting = list(running)
    while waiting:
        moved = False
        for node in machine.random.permutation(waiting).tolist():
            try:
                moved |= next(running[node])
            except StopIteration:
                waiting.remove(node)
                moved = True
        if not moved:
            raise StuckError(f"nodes {sorted(waiting)} wait for messages that do not come")
    left = {key: len(queue) for key, queue in machine.queues.items() if queue}
    assert not left, f"messages are left over: {left}"
    return results


class _Machine:
    """Messages under way between all nodes, and the steps of a node that send and receive them."""

    def __init__(self, words: int, dtype: np.dtype, function: Function, random: np.random.Generator) -> None:
        self.words = words
        self.dtype = dtype
        self.function = function
        self.random = random
        self.queues: dict[Key, deque[np.ndarray]] = defaultdict(deque)
        self.sent: set[int] = set()
        """Nodes that have sent a message since they last yielded."""

    def run(
        self,
        node: int,
        script: Script,
        calls: Sequence[tuple[str, np.ndarray | None]],
        results: list[np.ndarray | None],
    ) -> Generator[bool, None, None]:
        """Run the calls of ``node``; yields whether it has made progress since it last yielded."""
        count: dict[str, int] = defaultdict(int)
        own: deque[np.ndarray] = deque()
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
            call = several[count[name] % len(several)]
            count[name] += 1
            slots = [np.zeros(self.words, self.dtype) for _ in range(max(2, script.slots))]
            if message is not None:
                slots[MESSAGE] = message.copy()
            yield from self._steps(node, call, slots)
            results.append(None if call.result is None else slots[call.result])

    def _steps(self, node: int, call: Call, slots: list[np.ndarray]) -> Generator[bool, None, None]:
        for step in call.steps:
            if isinstance(step, Combine):
                slots[step.into] = self.function(slots[step.left], slots[step.right])
                continue
            if isinstance(step, Send):
                self._send(node, step, slots)
                continue
            if isinstance(step, Exchange):
                self._send(node, step.send, slots)
                step = step.receive
            while not (keys := self._arrived(node, step)):
                yield node in self.sent
                self.sent.discard(node)
            slots[step.slot] = self.queues[keys[int(self.random.integers(len(keys)))]].popleft()
            for onward in step.forward:
                self._send(node, onward, slots)
            yield True

    def _send(self, node: int, step: Send, slots: list[np.ndarray]) -> None:
        self.queues[node, step.to, step.channel].append(slots[step.slot][: step.words].copy())
        self.sent.add(node)

    def _arrived(self, node: int, step: Receive) -> list[Key]:
        """Non-empty queues from which this receive may take a message."""
        return [
            key
            for key, queue in self.queues.items()
            if queue and key[1:] == (node, step.channel) and step.source in (None, key[0])
        ]
