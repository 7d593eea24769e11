"""Traffic of the switch bench, with its model in place of the hardware."""

from __future__ import annotations

from random import Random

from cosim.benches.coverage import Coverage
from cosim.benches.tdm.catalogue import SWITCH
from cosim.benches.tdm.switch import CoveredSwitch, SwitchDriver


def test_traffic_hits_most_bins_and_none_that_is_out_of_reach() -> None:
    coverage = Coverage()
    model = CoveredSwitch(SWITCH, coverage)
    driver = SwitchDriver(SWITCH, Random(1))
    inputs: dict[str, int] = {}
    for cycle in range(600):
        inputs |= driver.early(cycle)
        outputs = model.outputs(inputs)
        inputs |= driver.late({name: value or 0 for name, value in outputs.items()})
        model.clock(inputs)
    hits = [count for group in coverage.groups.values() for count in group.hits.values()]
    assert sum(count > 0 for count in hits) > 0.6 * len(hits)
