"""The machine that evaluates COP forms: iterative, bounded, without access to Python.

Evaluations in progress are generators on an explicit stack (`Evaluator.run`); each yields the evaluations that it
needs and is sent their values. Nesting therefore costs memory, bounded by ``limits.depth``, and never Python's stack.

A form that fails raises `CopError`. Constructs and operators catch it, record it and go on, so that a pass finds
several faults; `CopLimitError` ends the pass at once.

Forms that come with the compiler (``prelude.cop``) have negative offsets; errors in them are shown at the call in the
user's text.

Non-goals: general macros, continuations, assignment to list elements. Values are immutable, so there are no cycles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from pointsman.cop.limits import Limits
from pointsman.cop.text.reader import FALSE, QUOTE, TRUE, Atom, Form, ListForm, Symbol, show
from pointsman.cop.text.source import CopError, CopLimitError, FollowOnError, Note, Places, suggestion, together
from pointsman.network import Topology
from pointsman.program.program import Position

from .geometry import SubsetContext
from .parts import InstancePart, Part, holds_part
from .values import (
    LATER,
    POISON,
    UNSET,
    Builtin,
    Closure,
    Complaint,
    Compound,
    Scope,
    Task,
    check_count,
)

SpecialForm = Callable[["Evaluator", ListForm, "Scope"], Task]

MOST_ERRORS = 20
"""Number of faults after which the pass ends."""
ERROR_STEPS = 50


@dataclass
class Settings:
    """Settings of the compilation that the text may change, such as ``*mode*``."""

    topology: Topology
    mode: str
    schedlen: int | None
    schedlen_set: bool = False


class Evaluator:
    """State of the evaluation of a text.

    Parameters
    ----------
    source : Places
    forms : mapping
        Special forms by name; the text cannot define these names anew.
    library : Scope
        Library functions and constants; the text may define their names anew, in its own scope.
    library_source : Places or None
        The text of forms with negative offsets (the prelude).
    """

    def __init__(
        self,
        source: Places,
        *,
        settings: Settings,
        limits: Limits,
        forms: Mapping[str, SpecialForm],
        library: Scope,
        host_parameters: Mapping[str, int],
        library_source: Places | None = None,
    ) -> None:
        self.source = source
        self.library_source = library_source
        self.settings = settings
        self.limits = limits
        self.forms = forms
        self.library = library
        self.globals = Scope({}, self.library)
        self.host_parameters = host_parameters
        self.parameters: dict[str, int] = {}
        self.network = SubsetContext(settings.topology)
        self.context = self.network
        self.defaults: Mapping[str, object] = {}
        self.passed: Mapping[str, object] = {}
        """Optional arguments that ``call-op`` hands on."""
        self.created: dict[int, InstancePart] = {}
        self.errors: dict[tuple[int, int], CopError] = {}
        self.known_errors: dict[tuple[int, str], CopError] = {}
        self.calls: list[int] = []
        self.at = 0
        self.steps = 0
        self.cells = 0
        self.made = 0

    # Running

    def run(self, task: Task) -> object:
        """Run a task, and all evaluations that it yields, to the end; gives its value."""
        stack = [task]
        value: object = None
        error: CopError | None = None
        most_steps, deepest = self.limits.steps, self.limits.depth
        while stack:
            try:
                if error is None:
                    request = stack[-1].send(value)
                else:
                    pending, error = error.with_traceback(None), None
                    request = stack[-1].throw(pending)
            except StopIteration as stop:
                stack.pop()
                value = stop.value
            except CopLimitError:
                raise
            except CopError as raised:
                stack.pop()
                error = raised
            else:
                self.steps += 1
                if self.steps > most_steps:
                    raise self.limit("steps", "evaluation takes too many steps")
                if len(stack) >= deepest:
                    raise self.limit("depth", "evaluation is nested too deeply")
                stack.append(request)
                value = None
        if error is not None:
            raise error
        return value

    def compound(self, form: ListForm, scope: Scope) -> Task:
        """The task that evaluates a list."""
        self.at = form.at
        head = form.items[0]
        if type(head) is Atom and type(head.value) is Symbol:
            special = self.forms.get(head.value)
            if special is not None:
                return special(self, form, scope)
        return self._call(form, scope)

    def value(self, form: Form, scope: Scope) -> Task:
        """Evaluate any form; for use with ``yield from``."""
        if type(form) is ListForm:
            value = self.plain_call(form, scope)
            return (yield self.compound(form, scope)) if value is LATER else value
        assert type(form) is Atom
        return self.atom(form, scope)

    def plain_call(self, form: ListForm, scope: Scope, levels: int = 3) -> object:
        """Value of a *plain call*: a library function on atoms and plain calls, at most ``levels`` deep; otherwise `LATER`.

        Short cut without a task for frequent expressions, for example ``(+ x 1)``. Library functions have no side effects,
        so arguments may be evaluated again after `LATER`.
        """
        items = form.items
        head = items[0]
        if type(head) is not Atom or type(head.value) is not Symbol:
            return LATER
        if head.value in self.forms:
            if head.value == QUOTE and len(items) == 2 and type(items[1]) is Atom:
                return items[1].value
            return LATER
        function = self.lookup(head.value, scope)
        if type(function) is not Builtin or function.calls:
            return LATER
        arguments = []
        for item in items[1:]:
            if type(item) is Atom:
                arguments.append(self.atom(item, scope))
                continue
            assert type(item) is ListForm
            value = self.plain_call(item, scope, levels - 1) if levels else LATER
            if value is LATER:
                return LATER
            arguments.append(value)
        self.at = form.at
        self.charge(1)
        try:
            check_count(function.name, function.least, function.most, len(arguments))
            return function.function(self, arguments)
        except Complaint as complaint:
            raise self.complaint(complaint, form) from None

    def atom(self, form: Atom, scope: Scope) -> object:
        """Value of an atom."""
        value = form.value
        if type(value) is not Symbol or value == TRUE:
            return value
        try:
            found = self.lookup(value, scope)
        except Complaint as complaint:
            raise self.complaint(complaint, form) from None
        if found is None or found is POISON or found is UNSET:
            return self.resolve(form, value, scope, called=False)
        return found

    def resolve(self, form: Form, name: str, scope: Scope, *, called: bool) -> object:
        """Value of a name; an error if it has none."""
        found = self.lookup(name, scope)
        if found is None:
            raise self._unknown(form, name, scope, called=called)
        if found is POISON:
            raise self.poisoned(form.at)
        if found is UNSET:
            raise self.error(form.at, f"'{show(Symbol(name))}' is used before it has a value")
        return found

    def lookup(self, name: str, scope: Scope) -> object | None:
        """Value of a name, `POISON` if its definition failed, None if it has none."""
        inner: Scope | None = scope
        while inner is not None:
            found = inner.values.get(name)
            if found is not None:
                return found
            inner = inner.outer
        return self.network_variable(name) if name[0] == "*" else None

    def _call(self, form: ListForm, scope: Scope) -> Task:
        items = form.items
        head = items[0]
        if isinstance(head, ListForm):
            function = yield self.compound(head, scope)
        elif type(head.value) is Symbol:
            function = self.resolve(head, head.value, scope, called=True)
        else:
            raise self.error(
                head.at, f"{show(head.value)} cannot be called", hint="a list of values is quoted: '(0 1 2)"
            )
        if type(function) is Compound:
            return (yield from function.evaluate(self, function, form, scope))
        arguments = []
        for item in items[1:]:
            if type(item) is ListForm:
                value = self.plain_call(item, scope)
                arguments.append((yield self.compound(item, scope)) if value is LATER else value)
            else:
                assert type(item) is Atom
                arguments.append(self.atom(item, scope))
        return (yield from self.apply(function, arguments, form))

    def apply(self, function: object, arguments: list[object], form: Form) -> Task:
        """Call a function with argument values; ``form`` is the call, at which errors are shown."""
        if type(function) is Builtin:
            self.at = form.at
            try:
                check_count(function.name, function.least, function.most, len(arguments))
                result = function.function(self, arguments)
                return (yield from result) if function.calls else result
            except Complaint as complaint:
                raise self.complaint(complaint, form) from None
        if type(function) is Compound:
            return (yield from function.expand(self, function, arguments, form))
        if type(function) is not Closure:
            raise self.error(form.at, f"{show(function)} is not a function")
        try:
            scope = Scope(function.parameters.bind(self, function.name, arguments), function.scope)
        except Complaint as complaint:
            raise self.complaint(complaint, form) from None
        defaults = self.defaults
        self.calls.append(form.at)
        try:
            return (yield from self.body(function.body, scope))
        finally:
            self.calls.pop()
            self.defaults = defaults

    def call_back(self, function: object, arguments: list[object], at: int) -> Task:
        """The task that calls a function from within a library function that is called at ``at``."""
        return self.apply(function, arguments, Atom(None, at))

    def body(self, forms: Sequence[Form], scope: Scope) -> Task:
        """Evaluate forms in order.

        The value is that of the last form. If earlier forms give operators, it is the list of these and the last value, so
        that no operator is lost.
        """
        parts: list[object] = []
        value: object = FALSE
        for number, form in enumerate(forms):
            value = yield from self.value(form, scope)
            if number < len(forms) - 1 and holds_part(value):
                parts.append(value)
        return (*parts, value) if parts else value

    def operators(self, forms: Sequence[Form], scope: Scope) -> Task:
        """Evaluate forms and collect the operators and groups that they give; for use with ``yield from``.

        A form that fails is recorded and passed over.
        """
        defaults = self.defaults
        parts: list[Part] = []
        try:
            for form in forms:
                try:
                    value = yield from self.value(form, scope)
                    parts.extend(self._parts(value, form))
                except CopError as error:
                    self.record(error)
        finally:
            self.defaults = defaults
        return parts

    def _parts(self, value: object, form: Form) -> list[Part]:
        parts: list[Part] = []
        stack = [value]
        while stack:
            item = stack.pop()
            if isinstance(item, Part):
                parts.append(item)
            elif isinstance(item, tuple):
                self.charge(len(item))
                stack.extend(reversed(item))
            else:
                raise self.error(form.at, f"expected an operator or a grouping construct, not {show(value)}")
        return parts

    # Names

    def network_variable(self, name: str) -> object | None:
        """Value of a predefined variable, or None if there is none of that name."""
        if name.endswith("size*") and not self.context.whole and self.context.topology.has_coordinates:
            self.survey()
        found = self.context.variable(name)
        if found is not None:
            return found
        if name == "*mode*":
            return Symbol(self.settings.mode)
        if name == "*schedlen*":
            set_or_scheduled = self.settings.schedlen_set or self.settings.mode != "dyn"
            return self.settings.schedlen if set_or_scheduled else None
        return None

    def _unknown(self, form: Form, name: str, scope: Scope, *, called: bool) -> CopError:
        known: set[str] = set(self.context.variables) | {"*mode*"}
        inner: Scope | None = scope
        while inner is not None:
            known.update(inner.values)
            inner = inner.outer
        if called:
            known.update(self.forms)
        what = "operator or function" if called else "variable"
        hint = suggestion(name, known)
        if name == "*schedlen*":
            hint = "it has a value only if the host or the program sets it"
        elif name in self.forms and not called:
            return self.error(form.at, f"'{show(Symbol(name))}' is the name of a construct and has no value")
        error = self.error(form.at, f"unknown {what} '{show(Symbol(name))}'", hint=hint)
        self.globals.values.setdefault(name, POISON)  # the fault is reported only once
        return error

    # Errors and bounds

    def place(self, at: int) -> int:
        """The offset in the user's text that stands for ``at``: itself, or the call that led into the prelude."""
        if at >= 0:
            return at
        return next((call for call in reversed(self.calls) if call >= 0), 0)

    def position(self, at: int) -> Position:
        """Line and column in the user's text that stand for ``at``."""
        return self.source.position(self.place(at))

    def error(
        self,
        at: int,
        message: str,
        *,
        hint: str | None = None,
        notes: Sequence[tuple[int, str]] = (),
        own: bool = False,
    ) -> CopError:
        """An error at an offset; within a function of the text it names the call too.

        An error in the prelude is shown at the call, with its place in the prelude unless ``own`` (raised by ``error`` there).
        Making an error costs about as much as `ERROR_STEPS` steps.
        """
        known = self.known_errors.get((at, message))
        if known is not None:
            return known
        self.charge(ERROR_STEPS)
        error = self._error(at, message, hint, notes, own)
        if not self.calls and len(self.known_errors) < MOST_ERRORS:
            self.known_errors[at, message] = error
        return error

    def _error(self, at: int, message: str, hint: str | None, notes: Sequence[tuple[int, str]], own: bool) -> CopError:
        if at < 0:
            error = self.source.error(self.place(at), message, hint=hint)
            if self.library_source is not None and not own:
                library = self.library_source
                error.notes = (Note(library.position(~at), "in its definition", library.excerpt(~at)),)
            return error
        if self.calls and self.calls[-1] >= 0:
            notes = [*notes, (self.calls[-1], "called from here")]
        return self.source.error(at, message, hint=hint, notes=[(self.place(a), text) for a, text in notes])

    def complaint(self, complaint: Complaint, form: Form) -> CopError:
        """The error of a complaint about a call."""
        at = form.at
        if complaint.argument is not None and isinstance(form, ListForm):
            at = form.items[min(complaint.argument + 1, len(form.items) - 1)].at
        return self.error(at, complaint.message, hint=complaint.hint, own=complaint.own)

    def limit(self, name: str, what: str, at: int | None = None) -> CopLimitError:
        """The error of a limit that is passed, at an offset or where evaluation is."""
        bound = getattr(self.limits, name)
        return self.source.limit(self.place(self.at if at is None else at), name, bound, what)

    def poisoned(self, at: int) -> FollowOnError:
        return FollowOnError("follows from another error", position=self.position(at))

    def record(self, error: CopError) -> None:
        """Keep an error and go on: only the first at each place. At `MOST_ERRORS` errors the pass ends."""
        if isinstance(error, CopLimitError):
            raise error
        if isinstance(error, FollowOnError):
            return
        self.errors.setdefault((error.position.line, error.position.column), error)
        if len(self.errors) >= MOST_ERRORS:
            self.raise_errors()

    def raise_errors(self) -> None:
        """Raise the recorded errors, if there are any."""
        if self.errors:
            raise together(self.errors.values()) from None

    def charge(self, steps: int) -> None:
        """Count work."""
        self.steps += steps
        if self.steps > self.limits.steps:
            raise self.limit("steps", "evaluation takes too many steps")

    def allocate(self, cells: int, each: int = 1) -> None:
        """Count ``cells`` list elements or characters before they are made in one piece; ``each`` is the count of an element."""
        if cells > self.limits.list_length:
            raise self.limit("list_length", f"this makes a list or string of {show(cells)} elements")
        self._keep(cells * each)

    def list_of(self, items: Sequence[object]) -> tuple[object, ...]:
        """A list value of these elements."""
        self.allocate(len(items))
        return tuple(items)

    def number(self, value: int | Fraction) -> int | Fraction:
        """A number as a value: an integer where it is whole. Too many bits raise; long numbers are counted as cells."""
        if isinstance(value, Fraction):
            if value.denominator == 1:
                value = value.numerator
            else:
                self.check_bits(bits := max(value.denominator.bit_length(), value.numerator.bit_length()))
                self._keep(2 + bits // 32)
        if isinstance(value, int) and (bits := value.bit_length()) > 64:
            self.check_bits(bits)
            self._keep(bits // 64)
        return value

    def _keep(self, cells: int) -> None:
        self.cells += cells
        if self.cells > self.limits.cells:
            raise self.limit("cells", "the program makes too many list elements")

    def _too_big(self) -> CopLimitError:
        return self.limit("number_bits", "this number has too many bits")

    def check_bits(self, bits: int) -> None:
        """Refuse a number of ``bits`` bits before it is made, if that exceeds the limit."""
        if bits > self.limits.number_bits:
            raise self._too_big()

    def count_made(self, parts: int, at: int) -> None:
        """Count operator instances and groups."""
        self.made += parts
        if self.made > self.limits.operators:
            raise self.limit("operators", "the program has too many operators", at)

    def survey(self) -> None:
        """Count the work of finding the coordinates of the current subset, which is done once. Raises `Complaint` if the
        network has none."""
        self.context.refuse_without_coordinates("this function")
        if "coordinates" not in vars(self.context):
            self.charge(len(self.context))
