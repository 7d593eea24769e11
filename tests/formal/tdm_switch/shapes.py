"""Shapes that the switch is proven for: small, and different in everything that the hardware does differently."""

from __future__ import annotations

from tdm_switch.shape import SwitchShape

_SMALL = {"width": 24, "queue_depth": 2, "buffer_depth": 4, "slot_cycles": 3, "age_bits": 2, "stored": 1}

SHAPES = {
    "single": SwitchShape(
        **_SMALL | {"ports": 2, "slots": 1, "priority": "fixed", "guard_cycles": 0, "slot_cycles": 1}
    ),
    "pair": SwitchShape(**_SMALL, ports=2, slots=2),
    "three": SwitchShape(**_SMALL, ports=3, slots=2),
    "units": SwitchShape(**_SMALL, ports=3, slots=3, sl_units=2, priority="random"),
    "slow": SwitchShape(**_SMALL, ports=2, slots=3, sl_cycles=3, order="wrapped", guard_cycles=2),
    "odd": SwitchShape(**_SMALL, ports=3, slots=3, order="wrapped", priority="random", sl_units=3, sl_cycles=2),
}
