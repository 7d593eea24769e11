"""What the judge says before anything is given to a user; only the rooms ``cli`` and ``api`` may call the judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.errors import PointsmanError
from pointsman.garbage import seldom_collected

if TYPE_CHECKING:
    from pointsman.artifacts.channels.channels import PhasedConnections
    from pointsman.artifacts.images.images import Images
    from pointsman.artifacts.routes.collectives import CollectiveResult
    from pointsman.artifacts.routes.routes import RouteProblem, RouteResult
    from pointsman.connections import Configurations, Timetable
    from pointsman.program.program import Program
    from pointsman.verify.report import CheckReport


def judged(images: Images) -> CheckReport:
    """What the judge says of images, and of the messages and schedules that the run time makes for some of their operators."""
    from pointsman.operators.messages.online import carried
    from pointsman.runtime.numesh.scheduling.made import made_images
    from pointsman.verify.images import check_images

    return check_images(images, carried, made_images)


@seldom_collected
def prove(images: Images, program: Program) -> None:
    """The compiler's own work is proved by the judge; a finding is a fault of ours."""
    from pointsman.verify.programs import program_differences

    report = judged(images)
    differences = program_differences(images, program)
    if not report.ok or differences:
        raise PointsmanError(
            "\n".join(["the compiled images break rules:", *differences, report.render()]),
            hint="this is a fault of the compiler: please report it with the program",
        )


def refuse_malformed(images: Images) -> None:
    """Refuse inconsistent images of a file. (Images that break rules of the hardware may be run, to see the effect.)"""
    from pointsman.runtime.numesh.online_port import refuse_unknown_ways
    from pointsman.verify.report import Notebook
    from pointsman.verify.structure.structure import check_structure

    notebook = Notebook()
    check_structure(images, notebook)
    if notebook.stopped:
        raise PointsmanError(
            f"the image cannot be run:\n{notebook.report(images.name, {}).render()}",
            hint="compile the program again",
        )
    refuse_unknown_ways(images)


def judge_route(problem: RouteProblem, result: RouteResult) -> None:
    """Have the judge see a router's answer; whoever gives it to a user does so first.

    Raises
    ------
    PointsmanError
        If the answer breaks rules of the node, or of the ideal model.
    """
    from pointsman.verify.images import check_images
    from pointsman.verify.routes import check_ideal

    if result.router == "ideal":
        schedule = check_ideal(problem, result)
        if not schedule.ok:
            raise PointsmanError(
                f"the schedule breaks rules of the ideal model:\n{schedule.render()}",
                hint="this is a fault of the router: please report it with the streams",
            )
        return
    assert result.images is not None
    report = check_images(result.images)
    if not report.ok:
        raise PointsmanError(
            f"the routes break rules of the node:\n{report.render()}",
            hint="this is a fault of the router: please report it with the file",
        )


def judge_timetable(images: Images) -> None:
    """Have the judge see the images of a network that serves flows.

    Raises
    ------
    PointsmanError
        If they break a rule.
    """
    from pointsman.verify.images import check_images

    report = check_images(images)
    if not report.ok:
        raise PointsmanError(
            f"the timetable breaks rules of the node:\n{report.render()}",
            hint="this is a fault of the search: please report it with the flows",
        )


def judge_configurations(answer: Configurations | Timetable) -> None:
    """Have the judge see configurations.

    Raises
    ------
    PointsmanError
        If they break a rule.
    """
    from pointsman.connections import Timetable
    from pointsman.verify.configurations import check_configurations, check_timetable

    findings = check_timetable(answer) if isinstance(answer, Timetable) else check_configurations(answer)
    if findings:
        raise PointsmanError(
            "the configurations break rules:\n" + "\n".join(findings[:20]),
            hint="this is a fault of the scheduler: please report it with the connections",
        )


def judge_phases(answer: PhasedConnections) -> None:
    """Have the judge see phases of connections on logical channels.

    Raises
    ------
    PointsmanError
        If they break a rule.
    """
    from pointsman.verify.channels import check_phases

    findings = check_phases(answer)
    if findings:
        raise PointsmanError(
            "the phases break rules:\n" + "\n".join(findings[:20]),
            hint="this is a fault of the division: please report it with the connections",
        )


def judge_collective(result: CollectiveResult) -> None:
    """Have the judge see a collective.

    Raises
    ------
    PointsmanError
        If it breaks rules of the ideal model, or a node does not get what it should.
    """
    from pointsman.verify.collectives import check_collective

    report = check_collective(result)
    if not report.ok:
        raise PointsmanError(
            f"the schedule breaks rules of the ideal model:\n{report.render()}",
            hint="this is a fault of the router: please report it with the collective",
        )
