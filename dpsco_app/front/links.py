"""Links: a scenario as the parameters of an address, and back."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import parse_qsl

from dpsco_app.front.changes import level_of, with_sweep_to_own_value
from dpsco_app.parts.options import LARGEST_SEED
from dpsco_app.parts.presets import DEFAULT
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.base.parsing import shorten, to_text
from dpsco_core.explain.methods.guide import usual_methods
from dpsco_core.fields import NAMES as FIELDS
from dpsco_core.fields import parse
from dpsco_core.runs.allowed import with_enough_points, with_fitting_grid
from dpsco_core.scenario import Scenario

BASE = DEFAULT.scenario  # Fields that an address leaves out have the values of this scenario.


def query(scenario: Scenario) -> dict[str, str]:
    """Return the parameters of a link to a scenario; never empty, because that means a default."""
    written = {"problem": scenario.problem} | scenario.to_query(BASE)
    if scenario.methods != usual_methods(scenario, level_of(scenario)):
        written["methods"] = to_text(scenario.methods)
    return written


def parameters(text: str, *, max_fields: int | None = None) -> dict[str, str]:
    """Return the parameters of a link; of repeated ones the last counts.

    Raises ValueError if `max_fields` is given and the text is no query, or has more parameters.
    """
    is_strict = max_fields is not None
    pairs = parse_qsl(
        text, keep_blank_values=True, strict_parsing=is_strict, max_num_fields=max_fields
    )
    return dict(pairs)


def read(link_fields: Mapping[str, str], *, sampling: bool = True) -> tuple[Scenario, list[str]]:
    """Return the scenario of an address, and one sentence for each of its errors.

    A field that cannot be read, or that is not allowed with the fields before it, takes its default
    value, and a grid does so with its axis. The sentence says why and what is left out.
    """
    problems: list[str] = []
    readable: dict[str, str] = {}
    for name in (name for name in FIELDS if name in link_fields):
        try:
            parse(name, link_fields[name])
            readable[name] = link_fields[name]
        except InvalidInput as problem:
            problems.append(str(problem))
    try:
        return _allowed(readable, sampling=sampling), problems
    except InvalidInput:
        allowed_fields, refused_fields = dict[str, str](), dict[str, list[str]]()
    # Each field is kept if it is valid together with those kept so far.
    for name, value in readable.items():
        if name == "grid" and "axis" in readable and "axis" not in allowed_fields:
            next(names for names in refused_fields.values() if "axis" in names).append(name)
            continue
        try:
            _allowed({**allowed_fields, name: value}, sampling=sampling)
            allowed_fields[name] = value
        except InvalidInput as problem:
            refused_fields.setdefault(str(problem), []).append(name)
    problems += [
        _with_losses(problem, names, link_fields) for problem, names in refused_fields.items()
    ]
    return _allowed(allowed_fields, sampling=sampling), problems


def _with_losses(problem: str, names: Sequence[str], link_fields: Mapping[str, str]) -> str:
    """Return the sentence `problem`, followed by the fields that are left out because of it.

    Nothing follows if the sentence itself names the only one.
    """
    if len(names) == 1 and f"got {names[0].removesuffix('s')}" in problem:
        return problem
    listed = " and ".join(f"{name}={shorten(link_fields[name])}" for name in names)
    return f"{problem} So {listed} {'is' if len(names) == 1 else 'are'} left out."


def _allowed(link_fields: Mapping[str, str], *, sampling: bool) -> Scenario:
    """Return the scenario of a link; raise `InvalidInput` if the dashboard does not allow it.

    Where the link names no grid, the default one is cut to what the dashboard allows.
    """
    scenario = Scenario.from_query(dict(link_fields), BASE)
    if "methods" not in link_fields:
        scenario = replace(scenario, methods=usual_methods(scenario, level_of(scenario)))
    # The default grid may be cut, since nobody chose its points.
    if "grid" not in link_fields:
        fitting = with_fitting_grid(with_sweep_to_own_value(scenario), DASHBOARD)
        scenario = with_enough_points(fitting, DASHBOARD)
    # If a control were given a larger seed, it would show its default without a message.
    must = f"at most {LARGEST_SEED:,} for {DASHBOARD.where}"
    require(scenario.seed <= LARGEST_SEED, "seed", must, scenario.seed)
    return scenario.validate(DASHBOARD, sampling=sampling)
