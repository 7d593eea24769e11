"""Shapes that the switch is proven for: small, and different in everything that the hardware does differently."""

from __future__ import annotations

from tdm_switch.shape import SwitchShape

_SMALL = {"width": 24, "queue_depth": 2, "buffer_depth": 4, "slot_cycles": 3, "age_bits": 2, "stored": 1}

_FAIR = _SMALL | {"slots": 1, "age_bits": 0, "stored": 0}
"""Round robin over one slot."""

SHAPES = {
    "single": SwitchShape(
        **_SMALL | {"ports": 2, "slots": 1, "priority": "fixed", "guard_cycles": 0, "slot_cycles": 1}
    ),
    "pair": SwitchShape(**_SMALL, ports=2, slots=2),
    "three": SwitchShape(**_SMALL, ports=3, slots=2),
    "units": SwitchShape(**_SMALL, ports=3, slots=3, sl_units=2, priority="random"),
    "slow": SwitchShape(**_SMALL, ports=2, slots=3, sl_cycles=3, order="wrapped", guard_cycles=2),
    "fair": SwitchShape(**_FAIR, ports=2),
    "fair_wrapped": SwitchShape(**_FAIR, ports=2, order="wrapped"),
    "fair_three": SwitchShape(**_FAIR, ports=3, order="wrapped"),
    "odd": SwitchShape(**_SMALL, ports=3, slots=3, order="wrapped", priority="random", sl_units=3, sl_cycles=2),
}
