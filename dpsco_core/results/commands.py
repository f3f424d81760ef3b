"""Commands of `dpsco` that repeat a scenario, or release a reader's own columns.

A command is the list of its words, which `shlex.join` quotes for a shell.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dpsco_core.catalogue import LINEAR_MODELS, method_card, problem_card, problem_class
from dpsco_core.problems.linear_models import LinearModelProblem
from dpsco_core.scenario import Scenario

# The names that stand for a reader's own file, columns and target.
FILE, COLUMN, TARGET = "data.csv", "x", "y"
# A command for more columns than these is long: a script takes its place.
MOST_NAMED = 4


def command_flags(point: Scenario, files: Sequence[str] = ()) -> str:
    """Return the command-line flags of a point.

    Examples
    --------
    >>> command_flags(Scenario(n=500, methods=("mean.clipped",)))
    '--method mean.clipped --n 500'
    """
    return shlex.join(flag_words(point, files))


def flag_words(point: Scenario, files: Sequence[str] = ()) -> list[str]:
    """Return the flags of a point, word by word: its methods, and what is not at its default."""
    words = [word for path in files for word in ("--with", path)]
    words += [word for slug in point.methods for word in ("--method", slug)]
    fields = {k: v for k, v in point.to_query().items() if k != "methods"}
    return words + [word for name, text in fields.items() for word in (f"--{name}", text)]


def has_record_unit(problem: str) -> bool:
    """Return whether the answer of a problem is in the unit of the records.

    The coefficients of a model are not, and the direction of a linear loss has no unit.
    """
    is_linear = problem_card(problem).loss_class.curvature == "linear"
    return problem not in LINEAR_MODELS and not is_linear


def has_number_target(problem: str) -> bool:
    """Return whether a problem is a linear model whose targets are numbers, and not labels."""
    family = problem_class(problem)
    return issubclass(family, LinearModelProblem) and family.link.labels is None


def column_words(
    file: str, columns: Sequence[str], stated: Mapping[str, Sequence[float]]
) -> list[str]:
    """Return the words that begin a release of a file's columns.

    `stated` has the values of repeatable flags (bound, unit, centre) by their names, in the unit of
    the columns: one value for all columns, or one for each.

    Examples
    --------
    >>> " ".join(column_words("pay.csv", ["income"], {"bound": [60000.0], "centre": [-1.5]}))
    'dpsco release pay.csv --column=income --bound=60000 --centre=-1.5'
    """
    words = ["dpsco", "release", file]
    # With an equals sign, a name or a value that begins with a minus sign is not read as a flag.
    words += [f"--column={name}" for name in columns]
    return words + [f"--{name}={v:.10g}" for name, values in stated.items() for v in values]


def release_words(
    point: Scenario, method: str, files: Sequence[str] = (), *, unit: float | None = None
) -> list[str]:
    """Return the command that releases own data by a method, with the statements of a point.

    With more than `MOST_NAMED` columns it prints a script in its place. The list is empty where
    `release` has no such run: without privacy, for users, or on another set than the l2 ball.

    Parameters
    ----------
    point : Scenario
        A single point.
    method : str
        Slug of a method.
    files : sequence of str
        Files with code of the reader's own (`--with`).
    unit : float, optional
        The reader's bound on the moment of a coordinate, by default that of the point's law.

    Examples
    --------
    >>> words = release_words(Scenario(d=1, p=2.5), "mean.clipped", unit=3e4)
    >>> " ".join(words[:6])
    'dpsco release data.csv --column=x --bound=60000 --unit=30000'
    """
    card = method_card(method)
    is_model = point.problem in LINEAR_MODELS
    is_left_out = card.privacy == "none" or card.level == "user" or point.m > 1
    if is_left_out or point.geometry != "l2" or (is_model and point.p < 2):
        return []
    if point.d > MOST_NAMED:
        one_setting = replace(point, methods=(), axis=None, grid=(), trials=Scenario.trials)
        flags = flag_words(one_setting, files)
        return ["dpsco", "about", method, "--library", "dpsco_core", *flags]
    columns = [COLUMN] if point.d == 1 else [f"{COLUMN}{i}" for i in range(1, point.d + 1)]
    root = point.instance.law.moment_root
    own_unit = root if unit is None else unit
    bound = point.diameter / 2 * own_unit / root
    words = column_words(FILE, columns, {"bound": [bound], "unit": [own_unit]})
    if is_model:
        words += ["--target", TARGET]
        if has_number_target(point.problem):
            words += ["--target-unit", "1"]
    if point.problem != card.problems[0] or is_model:
        words += ["--problem", point.problem]
    words += ["--method", method, "--p", f"{point.p:g}"]
    if point.rho is not None:
        words += ["--rho", f"{point.rho:g}"]
    else:
        words += ["--epsilon", f"{point.epsilon:g}", "--delta", f"{point.delta:g}"]
    return words + [word for path in files for word in ("--with", path)]
