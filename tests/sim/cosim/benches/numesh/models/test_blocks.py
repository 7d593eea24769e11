"""The models of the blocks against that of the whole node: put together, they do the same."""

from __future__ import annotations

from functools import reduce
from operator import or_
from random import Random

import pytest

from cosim.benches.coverage import Coverage
from cosim.benches.numesh import node
from cosim.benches.numesh.catalogue import ODD, STANDARD
from cosim.benches.numesh.models.annotation import AnnotationModel
from cosim.benches.numesh.models.interface import InterfaceModel
from cosim.benches.numesh.models.memadr import AssemblerModel
from cosim.benches.numesh.models.schedule import ScheduleModel
from cosim.benches.numesh.models.transfer import TransferModel
from numesh.codes import Codes, MoveType
from numesh.shape import NodeShape

Values = dict[str, int]
_PROCESSOR = ("rst", "p_address", "p_write", "p_read", "p_write_data")
_WRITERS = ("write__full", "write__emptied", "write__same")
_NOTHING = {
    **dict.fromkeys(("in_valid", "out_accept", "read__found", "read__data"), 0),
    "write__full": 1,
    "write__emptied": 0,
    "write__same": 0,
}


class Assembled:
    """A node made of the models of its blocks."""

    def __init__(self, shape: NodeShape) -> None:
        self.shape = shape
        codes = Codes(shape)
        pipelines = range(shape.pipelines)
        self.codes = codes
        self.schedule = ScheduleModel(shape, [codes.encode_entry(entry) for entry in codes.reset_schedule()])
        self.annotations = [
            AnnotationModel([codes.encode_annotation(a) for a in codes.reset_annotations(p)]) for p in pipelines
        ]
        self.transfers = [TransferModel(shape) for _ in pipelines]
        self.commands = [AssemblerModel(shape) for _ in pipelines]
        self.interface = InterfaceModel(shape)
        self.accepts = 0

    def _no_asks(self) -> Values:
        pipelines = range(self.shape.pipelines)
        values = {f"read_{p}__{name}": 0 for p in pipelines for name in ("number", "asks", "names", "keep", "take")}
        return values | {f"write_{p}__{name}": 0 for p in pipelines for name in ("number", "put", "data")}

    def _meets(self, p: int) -> bool:
        """The turn in the distance stage of pipeline ``p`` has its link or register in common with a lower one."""
        codes, one = self.codes, self.transfers[p].turns[0].annotation
        for lower in self.transfers[:p]:
            other = lower.turns[0].annotation
            forks = MoveType.FORK in (one.type, other.type)
            if one.source == other.source and codes.is_register(one.source):
                return True
            if one.source == other.source and codes.is_neighbour(one.source) and not forks:
                return True
            if one.destination == other.destination and codes.is_neighbour(one.destination):
                return True
        return False

    def cycle(self, inputs: Values) -> dict[str, int | None]:
        """Outputs of the cycle, after which it ends."""
        pipelines, links = range(self.shape.pipelines), range(self.shape.neighbours)
        stages: list[Values] = []
        for p in pipelines:
            annotation = self.annotations[p]
            stages.append(
                {
                    "rst": inputs["rst"],
                    "active": int(annotation.active),
                    "vfsm": annotation.vfsm,
                    "annotation": annotation.annotation,
                }
            )
        claims = [self.transfers[p].outputs({**stages[p], **_NOTHING}) for p in pipelines]
        outputs: dict[str, int | None] = {}
        for d in links:
            claiming = [p for p in pipelines if (claims[p]["out_claim"] or 0) >> d & 1]
            assert len(claiming) < 2, "pipelines never meet at a link"
            outputs[f"in_accept_{d}"] = self.accepts >> d & 1
            valid = claims[claiming[0]]["out_valid"] if claiming else 0
            outputs[f"out_valid_{d}"] = valid
            outputs[f"out_data_{d}"] = claims[claiming[0]]["out_data"] if valid else None
            for p in pipelines:
                stages[p]["in_valid"] = stages[p].get("in_valid", 0) | inputs[f"in_valid_{d}"] << d
                stages[p][f"in_data_{d}"] = inputs[f"in_data_{d}"]
                stages[p]["out_accept"] = stages[p].get("out_accept", 0) | inputs[f"out_accept_{d}"] << d
        found = self.interface.outputs(dict.fromkeys(_PROCESSOR, 0) | self._no_asks())
        for p in pipelines:
            stages[p] |= {
                "read__found": found[f"read_{p}__found"] or 0,
                "read__data": found[f"read_{p}__data"] or 0,
                "meets": int(self._meets(p)),
            }
        asked = [self.transfers[p].outputs(stages[p]) for p in pipelines]
        interface = {name: inputs[name] for name in _PROCESSOR}
        for p in pipelines:
            for name, value in asked[p].items():
                for side in ("read", "write"):
                    if name.startswith(f"{side}__"):
                        interface[f"{side}_{p}__{name.removeprefix(f'{side}__')}"] = value or 0
        answers = self.interface.outputs(interface)
        outputs |= {name: answers[name] for name in ("p_full", "p_read_data")}
        for p in pipelines:
            stages[p] |= {name: answers[f"write_{p}__{name[7:]}"] or 0 for name in _WRITERS}
        accepts = [asked[p]["next_accept"] or 0 for p in pipelines]
        self.accepts = 0 if inputs["rst"] else reduce(or_, accepts)
        self._clock(inputs, stages, asked, interface)
        return outputs

    def _clock(
        self, inputs: Values, stages: list[Values], asked: list[dict[str, int | None]], interface: Values
    ) -> None:
        codes = self.codes
        written: dict[str, int | None] = {}
        for p in range(self.shape.pipelines):
            word = {"rst": inputs["rst"], "valid": asked[p]["memadr"] or 0, "word": asked[p]["out_data"] or 0}
            strobes = self.commands[p].outputs(word)
            if p == 0:
                written = strobes
            entry = codes.decode_entry(self.schedule.entry or 0)
            self.annotations[p].clock(
                {
                    "rst": inputs["rst"],
                    "running": int(self.schedule.started),
                    "vfsm": entry.vfsms[p],
                    "w_enable": strobes[f"w_annotation_{p}"] or 0,
                    "w_vfsm": strobes[f"vfsm_{p}"] or 0,
                    "w_annotation": strobes[f"annotation_{p}"] or 0,
                }
            )
            self.commands[p].clock(word)
            self.transfers[p].clock(stages[p])
        self.schedule.clock(
            {
                "rst": inputs["rst"],
                "set_pointer": written["set_pointer_0"] or 0,
                "add_pointer": written["add_pointer_0"] or 0,
                "pointer": written["pointer_0"] or 0,
                "second": written["second_0"] or 0,
                "w_enable": written["w_schedule_0"] or 0,
                "w_address": written["address_0"] or 0,
                "w_entry": written["entry_0"] or 0,
            }
        )
        self.interface.clock(interface)


@pytest.mark.parametrize(("shape", "seed"), [(STANDARD, 1), (STANDARD, 2), (ODD, 1), (ODD, 2)])
def test_models_of_the_blocks_make_the_model_of_the_node(shape: NodeShape, seed: int) -> None:
    whole = node.CoveredNode(shape, Coverage())
    assembled = Assembled(shape)
    driver = node.NodeDriver(shape, Random(seed), whole.counter.moves.goals)
    inputs: Values = dict.fromkeys(("p_address", "p_write", "p_read", "p_write_data"), 0)
    compared = 0
    for cycle in range(4000):
        inputs |= driver.early(cycle)
        expected = whole.outputs(inputs)
        inputs |= driver.late({name: value or 0 for name, value in expected.items()})
        given = assembled.cycle(inputs)
        assert given == expected, f"cycle {cycle}"
        compared += sum(value is not None for value in expected.values())
        whole.clock(inputs)
    assert compared > 4000 * (2 * shape.neighbours + 1)
