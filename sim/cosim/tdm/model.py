"""Cycle model of the switch with programs at its ports: used where there is no C++ compiler, and to compare with the RTL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from cosim.engines import processors
from cosim.engines.chosen import check_switch_engine, chosen_engine
from cosim.engines.processors import Access, Outcome, Program, Programs, RunOptions
from cosim.machine import ProcessorMachine, Runner, is_shown
from tdm_switch.shape import SwitchShape
from tdm_switch.station import patience

from .quick_model import QuickSwitch, can_model
from .station_model import StationsModel

EngineName = Literal["auto", "verilated", "model"]


class SwitchPortShape:
    """Sizes of a processor port of the switch, as a program sees it; see `cosim.hardware.PortShape`."""

    def __init__(self, shape: SwitchShape) -> None:
        self.registers = shape.registers
        self.width = shape.width
        self.word_mask = (1 << shape.width) - 1


class SwitchModelEngine:
    """A model of the switch with processors at its ports: the quick one if it knows the shape, else the naive one."""

    name = "model"

    def __init__(self, shape: SwitchShape, *, naive: bool = False) -> None:
        self.shape = shape
        self.nodes = shape.ports
        self.quick = None if naive or not can_model(shape) else QuickSwitch(shape, patience(shape))
        self.model = self.quick or StationsModel(shape, patience(shape))
        self._time = 0
        self._idle = {
            f"p_{name}_{i}": 0 for i in range(shape.ports) for name in ("address", "write", "read", "write_data")
        }

    @property
    def time(self) -> int:
        return self._time

    def close(self) -> None:
        """Nothing is held."""

    def full(self, node: int) -> int:
        return self.model.nics[node].full

    available = full

    def clock(self, accesses: Mapping[int, Access]) -> Mapping[int, int]:
        self._time += 1
        if self.quick is not None:
            self.quick.clock({node: (one.register, one.write, one.word) for node, one in accesses.items()})
            return {node: self.quick.nics[node].read_data for node, one in accesses.items() if not one.write}
        assert isinstance(self.model, StationsModel)
        inputs = dict(self._idle)
        for node, access in accesses.items():
            inputs[f"p_address_{node}"] = access.register
            inputs[f"p_write_{node}"] = int(access.write)
            inputs[f"p_read_{node}"] = int(not access.write)
            inputs[f"p_write_data_{node}"] = access.word
        self.model.clock(inputs)
        return {node: self.model.nics[node].read_data for node, access in accesses.items() if not access.write}

    def run(self, programs: Sequence[Program | None], options: RunOptions) -> Outcome:
        """Run the programs to their ends."""

        def is_full(node: int, register: int) -> bool:
            return bool(self.full(node) >> register & 1)

        return processors.run(self, Programs(SwitchPortShape(self.shape), programs, self.time, is_full), options)


class SwitchMachine(ProcessorMachine):
    """A switch with a processor at every port; ``switch`` is its shape."""

    def __init__(self, shape: SwitchShape, engine: Runner, *, progress: bool | None = None) -> None:
        from .hardware import quiet_cycles

        super().__init__(engine, quiet_cycles=quiet_cycles(shape), progress=progress)
        self.switch = shape

    def state(self) -> None:
        return None


def switch_machine(shape: SwitchShape, engine: EngineName = "auto", *, progress: bool | None = None) -> SwitchMachine:
    """A switch of this shape with a processor at every port.

    Parameters
    ----------
    engine : str
        "verilated" (the RTL, compiled by Verilator), "model" (a cycle model, slow) or "auto": the RTL if there is a C++ compiler.

    Raises
    ------
    PointsmanError
        If there is no such engine, or it cannot be built.
    """
    check_switch_engine(engine)
    shown = is_shown(progress)
    if chosen_engine(engine) == "model":
        return SwitchMachine(shape, SwitchModelEngine(shape), progress=shown)
    from cosim.engines.verilated.engine import HardwareEngine

    from .hardware import switch_hardware

    return SwitchMachine(shape, HardwareEngine(switch_hardware(shape), progress=shown), progress=shown)
