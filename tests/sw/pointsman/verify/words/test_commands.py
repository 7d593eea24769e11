"""Commands to the routers of others: seeded faults and what the judge says of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from numesh.codes import Codes
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images, Role
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images


@cache
def compiled() -> Images:
    text = "(stream 's 0 (runtime :dynamic t) :m 2 :impl 'str_stream_dyn)"
    return make_images(make_plan(compile_text(text, topology=mesh(3)), NodeShape(), name="dynamic", period=16))


def with_roles(images: Images, node: int, change: Callable[[int, Role], Role]) -> Images:
    nodes = list(images.nodes)
    ((index, view),) = nodes[node].operators
    roles = tuple(change(number, role) for number, role in enumerate(view.roles))
    nodes[node] = replace(nodes[node], operators=((index, replace(view, roles=roles)),))
    return replace(images, nodes=tuple(nodes))


def breaks(rule: str, images: Images) -> str:
    """Messages of findings of the rule, of which there must be one."""
    found = [finding.message for finding in check_images(images).findings if finding.rule == rule]
    assert found, check_images(images).render()
    return "; ".join(found)


def test_commands_of_every_value_are_accepted() -> None:
    report = check_images(compiled())
    assert report.ok, report.render()
    assert report.counts["operators with commands"] == 1
    (_, view), *_ = compiled().nodes[0].operators
    assert {len(role.commands) for role in view.roles} == {2}


def test_a_command_that_is_not_the_role_of_its_value() -> None:
    first = compiled().nodes[0].operators[0][1].roles[1].commands
    images = with_roles(compiled(), 0, lambda _, role: replace(role, commands=first))
    assert "stand otherwise than in its role" in breaks("commands", images)


def test_a_command_is_left_out() -> None:
    images = with_roles(compiled(), 0, lambda _, role: replace(role, commands=role.commands[1:]))
    assert "sends it the annotations" in breaks("commands", images)
    images = with_roles(
        compiled(), 0, lambda k, role: replace(role, commands=role.commands[:1] if k else role.commands)
    )
    assert not check_images(images).ok


def test_a_command_of_another_kind() -> None:
    (word,) = Codes(compiled().shape).add_pointer(16)
    spoilt = tuple((register, word) for register, _ in compiled().nodes[0].operators[0][1].roles[0].commands)
    images = with_roles(compiled(), 0, lambda _, role: replace(role, commands=spoilt))
    assert "rewrites no annotation" in breaks("commands", images)


def test_a_command_into_a_register_that_leads_nowhere() -> None:
    images = with_roles(
        compiled(), 0, lambda _, role: replace(role, commands=tuple((15, word) for _, word in role.commands))
    )
    assert "leads to no command register" in breaks("commands", images)


def test_words_must_not_overtake_commands() -> None:
    images = with_roles(compiled(), 0, lambda _, role: replace(role, delay=10))
    assert "words follow a command to node" in breaks("commands", images)


def test_only_an_operator_of_that_kind_sends_commands() -> None:
    images = replace(compiled(), operators=(replace(compiled().operators[0], remote=False),))
    assert "rewrite as well" in breaks("commands", images)
    assert "it uses command register" in breaks("registers", images)


def test_a_value_that_nobody_brings() -> None:
    images = with_roles(compiled(), 0, lambda _, role: replace(role, commands=()))
    assert "none sends commands" in breaks("commands", images)


def test_nobody_leaves_while_commands_are_on_their_way() -> None:
    phases = (replace(compiled().phases[0], technique="msg-sync"),)
    assert "each for itself" in breaks("commands", replace(compiled(), phases=phases))


def test_a_node_to_which_commands_come_runs_them() -> None:
    images = compiled()
    nodes = list(images.nodes)
    (part,) = nodes[1].phases
    rows = tuple(tuple(0 if vfsm == 1 else vfsm for vfsm in row) for row in part.schedule)
    nodes[1] = replace(nodes[1], phases=(replace(part, schedule=rows),))
    assert "VFSM 1 never runs" in breaks("commands", replace(images, nodes=tuple(nodes)))
