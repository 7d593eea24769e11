"""Model of the interface registers."""

from __future__ import annotations

from collections.abc import Mapping

from numesh.shape import NodeShape


class InterfaceModel:
    """Registers with full bits; processor first, then the pipelines in order."""

    def __init__(self, shape: NodeShape) -> None:
        self.shape = shape
        self.words: list[int | None] = [None] * shape.registers
        self.full = [False] * shape.registers
        self.read_data: int | None = None
        """Undefined until the first read after a reset, and after a read of a register that was never written."""
        self.numbers = [dict.fromkeys(self._names(), 0) for _ in range(2)]
        """Registers that the pipelines ask for in this cycle and in the next: they name them two cycles before."""

    def _names(self) -> list[str]:
        return [f"{side}_{p}" for side in ("read", "write") for p in range(self.shape.pipelines)]

    def processor_reads(self, inputs: Mapping[str, int]) -> int | None:
        """Register that the processor takes in this cycle."""
        r = inputs["p_address"]
        return r if inputs["p_read"] and r < self.shape.registers and self.full[r] else None

    def processor_writes(self, inputs: Mapping[str, int]) -> int | None:
        """Register that the processor fills in this cycle."""
        r = inputs["p_address"]
        return r if inputs["p_write"] and r < self.shape.registers and not self.full[r] else None

    def taken(self, inputs: Mapping[str, int]) -> list[int | None]:
        """Register that each pipeline takes."""
        gone = [self.processor_reads(inputs)]
        for p in range(self.shape.pipelines):
            r = self.numbers[0][f"read_{p}"]
            gets = inputs[f"read_{p}__request"] and self.full[r] and r not in gone
            gone.append(r if gets else None)
        return gone[1:]

    def written(self, inputs: Mapping[str, int]) -> list[int | None]:
        """Register that each pipeline fills."""
        filled = [self.processor_writes(inputs)]
        for p in range(self.shape.pipelines):
            r = self.numbers[0][f"write_{p}"]
            free = not self.full[r] or inputs[f"write_{p}__blind"]
            puts = inputs[f"write_{p}__request"] and free and r not in filled
            filled.append(r if puts else None)
        return filled[1:]

    def outputs(self, inputs: Mapping[str, int]) -> dict[str, int | None]:
        expected: dict[str, int | None] = {
            "p_full": sum(1 << r for r, full in enumerate(self.full) if full),
            "p_read_data": self.read_data,
        }
        for p, r in enumerate(self.taken(inputs)):
            expected[f"read_{p}__taken"] = int(r is not None)
            expected[f"read_{p}__data"] = None if r is None else self.words[r]
        for p, r in enumerate(self.written(inputs)):
            expected[f"write_{p}__ok"] = int(r is not None)
        return expected

    def clock(self, inputs: Mapping[str, int]) -> None:
        taken, written = self.taken(inputs), self.written(inputs)
        read, write = self.processor_reads(inputs), self.processor_writes(inputs)
        if inputs["p_read"] and inputs["p_address"] < self.shape.registers:
            self.read_data = self.words[inputs["p_address"]]
        if read is not None:
            self.full[read] = False
        for p, r in enumerate(taken):
            if r is not None and not inputs[f"read_{p}__keep"]:
                self.full[r] = False
        for p, r in enumerate(written):
            if r is not None:
                self.words[r] = inputs[f"write_{p}__data"]
                self.full[r] = True
        if write is not None:
            self.words[write] = inputs["p_write_data"]
            self.full[write] = True
        self.numbers = [self.numbers[1], {name: inputs[f"{name}__number"] for name in self._names()}]
        if inputs["rst"]:
            self.full = [False] * self.shape.registers
            self.read_data = None
