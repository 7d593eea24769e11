"""The benchmark of the engines: what it makes of a computer whose speed wanders."""

import itertools
import subprocess
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from cosim.numesh.machine import Machine
from cosim.numesh.rings import ring_memories
from numesh.shape import NodeShape
from pointsman.network import mesh


@pytest.fixture(scope="module")
def benchmark_module(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("engine_speed.py")


class Computer:
    """A clock on which cycles take longer and shorter, by a factor that changes from stretch to stretch."""

    def __init__(self, factors: list[float]) -> None:
        self.now = 0.0
        self.factors = itertools.chain.from_iterable(itertools.repeat(factor, 2) for factor in itertools.cycle(factors))

    def stretch(self, speed: float):
        def pass_by(cycles: int) -> int:
            self.now += cycles / speed * next(self.factors)
            return cycles

        return lambda cycles: lambda: pass_by(cycles)


@pytest.mark.parametrize("factors", [[1.0], [1.0, 2.0], [1.0, 1.9, 1.2, 2.0, 1.5]])
def test_the_ratio_is_right_however_the_computer_wanders(benchmark_module: ModuleType, factors: list[float]):
    computer = Computer(factors)
    pair = benchmark_module.compare(
        computer.stretch(10e6), computer.stretch(7e6), 1.0, pairs=10, clock=lambda: computer.now
    )
    assert pair.ratio == pytest.approx(0.7)
    assert pair.quartiles == pytest.approx((0.7, 0.7))
    assert (pair.first, pair.second) == pytest.approx((10e6, 7e6))


def test_a_jump_between_two_stretches_of_a_pair_does_not_move_the_median(benchmark_module: ModuleType):
    computer = Computer([1.0])
    slow = computer.stretch(7e6)
    turns = itertools.count()

    def disturbed(cycles: int):
        def go() -> int:
            began = computer.now
            slow(cycles)()
            if next(turns) % 5 == 4:
                computer.now += 3 * (computer.now - began)
            return cycles

        return go

    pair = benchmark_module.compare(computer.stretch(10e6), disturbed, 1.0, pairs=20, clock=lambda: computer.now)
    assert pair.ratio == pytest.approx(0.7)


def test_every_program_of_the_benchmark_says_how_many_cycles_passed(benchmark_module: ModuleType):
    shape, topology = NodeShape(), mesh(2, 2)
    with Machine(shape, topology, engine="model") as machine:
        machine.preload(ring_memories(shape, topology, [(2, 3)]))
        for run in (
            lambda: benchmark_module._let_pass(machine, 100),
            lambda: benchmark_module._run(machine, 16, 3),
            lambda: benchmark_module._shift(machine, 10, 3),
        ):
            before = machine.time
            assert run()() == machine.time - before > 0


def test_the_program_whose_start_is_timed_makes_a_machine(benchmark_module: ModuleType):
    subprocess.run([sys.executable, "-c", benchmark_module.START, "2x1", "model"], check=True)
