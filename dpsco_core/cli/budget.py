"""The command `dpsco budget`: conversions, composition and amplification of a budget."""

import argparse
from dataclasses import asdict, replace
from typing import Any

from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.parsing import whole
from dpsco_core.cli.tables.budget import answer_of
from dpsco_core.cli.tools import (
    add_command,
    format_table,
    number,
    print_json,
    print_text,
    read_number,
    read_whole,
)
from dpsco_core.explain.budgets import (
    Composed,
    Point,
    batched,
    composed,
    equal_share,
    every_conversion,
    point_of,
    shuffling,
    subsampled,
)
from dpsco_core.explain.recipe.noise import (
    SAMPLINGS,
    Priced,
    Sampling,
    epsilon_of,
    noise_for,
    releases_of_epochs,
)
from dpsco_core.explain.recipe.training import TRAINERS, training_code
from dpsco_core.privacy.allocated_passes import MOST_PASSES, allocate_passes
from dpsco_core.privacy.allocation import MOST_STEPS, allocate_steps
from dpsco_core.privacy.poisson import DIRECTIONS, Neighbours
from dpsco_core.privacy.tradeoff import odds
from dpsco_core.results.report import finite_or_none

FLAGS = {
    "epsilon": "privacy budget epsilon (default 1)",
    "delta": "delta; 0 is pure DP, read at 1e-06 (default 1e-06)",
    "rho": "zCDP budget, instead of epsilon; epsilon is then read at delta",
    "releases": "compose so many equal releases of the budget: Gaussian ones, or any of pure DP",
    "records": "shuffle so many records, or take a batch of them",
    "steps": "allocate each record, at random and in secret, to one of so many noisy steps",
    "passes": "with steps: draw them anew in so many passes over the records",
    "epochs": "releases on batches, so many that the records are read so often: with batch and "
    "records, on Poisson batches unless sampling is fixed",
    "noise-multiplier": "solve for epsilon: noise on a sum over the largest norm of a record",
    "max-grad-norm": "with library: the norm to which gradients are clipped (default 1)",
    "batch": "subsample so many of the records; with releases, Gaussian ones on a new batch each",
}


# The argument `points` of `allocate_passes` for several passes. It is larger than in the plan of a
# method, because a command may take longer.
PASS_POINTS = 16
REPLACED = "neighbours replace one record"
# These words say what the numbers of each section assume: neighbours, sampling and accounting.
STATED = {
    "conversions": f"{REPLACED}; no sampling; noise_multiplier is noise over sensitivity",
    "composition": f"{REPLACED}; each release spends the whole budget on all records; by each "
    "accounting",
    "share": f"{REPLACED}; what each release may spend, if all together cost the budget",
    "total": f"{REPLACED}; of all releases together, if each spends the whole budget",
    "shuffling": f"{REPLACED}; records in a secret random order; amplification by shuffling",
    "subsampling": f"{REPLACED}; one secret batch without replacement; the exact mixture",
    "batches": f"{REPLACED}; a secret batch for each release; moments of Gaussian noise",
    "allocation": f"{REPLACED}; each record at one secret step of a pass; random allocation",
}


def add_budget(commands: Any) -> None:
    """Add the command `budget` to the parser."""
    parser = add_command(commands, "budget", run_budget)
    for name, text in FLAGS.items():
        names = (f"--{name}", "--target-epsilon") if name == "epsilon" else (f"--{name}",)
        parser.add_argument(*names, dest=name, metavar="VALUE", help=text)
    words = "batches of the releases: " + "; ".join(f"{k}: {v}" for k, v in SAMPLINGS.items())
    parser.add_argument("--sampling", metavar="NAME", choices=list(SAMPLINGS), help=words)
    words = (
        "count for these neighbours alone: replace-one or add-remove (by default for both, and in "
        "code for replace-one)"
    )
    parser.add_argument("--neighbours", metavar="NAME", choices=list(DIRECTIONS), help=words)
    words = f"print DP-SGD on Poisson batches as code, alone: {', '.join(TRAINERS)}"
    parser.add_argument("--library", metavar="NAME", choices=list(TRAINERS), help=words)


def run_budget(chosen: argparse.Namespace) -> None:
    """Print what a privacy budget is worth in each use that the flags ask for, as text or JSON.

    With `--noise-multiplier` it prints the epsilon that the given noise costs instead.
    """
    texts = {name: getattr(chosen, name) for name in FLAGS}
    inputs = {k: None if text is None else read_number(k, text) for k, text in texts.items()}
    if inputs["epochs"] is not None:
        inputs["releases"] = _releases_of_epochs(inputs, chosen.sampling)
        chosen.sampling = chosen.sampling or "poisson"
    if chosen.library is not None:
        print(_training_code(inputs, chosen))
        return
    if inputs["max-grad-norm"] is not None:
        raise InvalidInput("library must be given with max-grad-norm, got library=none.")
    numbers = _requested_numbers(inputs, chosen.sampling)
    if numbers["budget"]["kind"] == "approx":
        noise = _noise_section(inputs, chosen)
        # If epsilon is requested, no budget was given, and the other sections are left out.
        numbers = (numbers if inputs["noise-multiplier"] is None else {}) | {"noise": noise}
    else:
        for name in ("noise-multiplier", "epochs", "sampling", "neighbours"):
            if getattr(chosen, name) is not None:
                kind = numbers["budget"]["kind"]
                raise InvalidInput(f"{name} must be left out of a {kind} budget, got one.")
    answer = answer_of(numbers, inputs)
    if chosen.json:
        print_json(
            {"answer": answer.to_dict()}
            | numbers
            | {"stated": {name: STATED[name] for name in numbers if name in STATED}}
        )
        return
    print(f"Answer: {answer.line}")  # The answer is one line, however long, and is not wrapped.
    print_text(f"It is {answer.question}.")
    print()
    _print_sections(numbers)


def _print_sections(numbers: dict[str, Any]) -> None:
    """Print each section of numbers under its title, with what they assume.

    If the budget is for releases on sampled batches, the conversions are left out, whose noise is
    that of a single release on all records.
    """
    is_sampled = numbers.get("noise", {}).get("sampling", "none") != "none"
    for title, rows in numbers.items():
        if title == "conversions" and is_sampled:
            continue
        words = f": {STATED[title]}" if title in STATED else ""
        if title == "noise":
            print("Noise on a sum over the largest norm of a record\n")
            lines = [[name.replace("_", " "), _format_value(value)] for name, value in rows.items()]
            print(format_table(lines, ["", ""]).lstrip("\n"))
        elif isinstance(rows, list):
            print_text(f"{title.capitalize()}{words}")
            header = list(rows[0])
            print(
                "\n"
                + format_table([[_format_value(row[c]) for c in header] for row in rows], header)
                + "\n"
            )
        else:
            parts = ", ".join(f"{name} {_format_value(value)}" for name, value in rows.items())
            qualifier = ", at most" * (title == "batches")  # Moments prove only an upper bound.
            ending = words.replace(":", ";", 1)
            print_text(f"{title.capitalize()}{qualifier}: {parts}{ending}")
            print()


def _requested_numbers(inputs: dict[str, float | None], sampling: str | None) -> dict[str, Any]:
    """Return the sections of numbers that the flags ask for, as JSON values by their titles.

    `inputs` are the flags' numbers, and `sampling` the sampling scheme: if one is chosen, sections
    on other schemes are left out.
    """
    point = _point(inputs)
    numbers: dict[str, Any] = {
        "budget": {"kind": point.kind, "delta": point.delta}
        | ({"rho": point.rho} if point.kind == "zcdp" else {"epsilon": point.epsilon}),
        "conversions": [
            {
                "conversion": c.name,
                "rho": c.rho,
                "epsilon": c.epsilon,
                "noise_multiplier": None if point.kind == "pure" else c.noise_multiplier,
                "mu": None if point.kind == "pure" else c.mu,
            }
            for c in every_conversion(point)
        ],
        "attacker": [
            {
                "false_alarms": row.false_alarms,
                "least_misses": row.least_misses,
                "gaussian_least_misses": row.gaussian_least_misses,
            }
            for row in odds(point.budget)
        ],
    }
    releases = None if inputs["releases"] is None else read_whole("releases", inputs["releases"])
    # With sampled batches, the budget is that of all releases together, not of each one.
    if releases is not None and sampling in (None, "none"):
        composition = composed(point, releases)
        numbers["share"] = asdict(equal_share(point, releases))
        numbers["composition"] = [
            {
                "accounting": name,
                "epsilon": finite_or_none(getattr(composition, name)),
                "delta": composition.basic_delta if name == "basic" else point.delta,
            }
            for name in ("basic", "advanced", "zcdp", "exact")
            # Advanced composition is for many small releases; for few large ones a sum is sharper.
            if name != "advanced" or composition.advanced < composition.basic
        ]
        numbers["total"] = _rho_of_all(composition)
    records, batch = inputs["records"], inputs["batch"]
    if batch is not None and records is None:
        raise InvalidInput("records must be given with batch, got records=none.")
    if records is not None and sampling is None:
        if point.kind != "approx":
            raise InvalidInput(
                "budget must be an (epsilon, delta) one for shuffling and subsampling, "
                f"got budget={point.kind}."
            )
        count = read_whole("records", records)
        numbers["shuffling"] = [
            {"argument": s.name, "rho": s.rho, "noise_multiplier": s.noise_multiplier}
            for s in shuffling(count, point.epsilon, point.delta)
        ]
        if batch is not None:
            size = read_whole("batch", batch)
            subsample = subsampled(point.epsilon, point.delta, size, count)
            numbers["subsampling"] = {"epsilon": subsample.epsilon, "delta": subsample.delta}
            if releases is not None:
                epsilon = batched(point.epsilon, point.delta, size, count, releases)
                numbers["batches"] = {
                    "releases": releases,
                    "epsilon": epsilon,
                    "delta": point.delta,
                }
    if inputs["steps"] is not None:
        passes = 1 if inputs["passes"] is None else read_whole("passes", inputs["passes"])
        numbers["allocation"] = _allocation_row(point, read_whole("steps", inputs["steps"]), passes)
    elif inputs["passes"] is not None:
        raise InvalidInput("steps must be given with passes, got steps=none.")
    return numbers


def _releases_of_epochs(inputs: dict[str, float | None], sampling: Sampling | None) -> float:
    """Return the number of batches in the given epochs; raise `InvalidInput` for bad flags."""
    epochs, sizes = inputs["epochs"], (inputs["batch"], inputs["records"])
    assert epochs is not None
    for name in ("steps", "releases"):
        value = inputs[name]
        if value is not None:
            raise InvalidInput(
                f"{name} must be left out beside epochs, which set them, got {name}={value:g}."
            )
    batch, records = (
        None if size is None else read_whole(name, size)
        for name, size in zip(("batch", "records"), sizes, strict=True)
    )
    return float(releases_of_epochs(epochs, sampling, batch, records))


def _rho_of_all(composition: Composed) -> dict[str, float]:
    """Return the rho of all releases together and, under a pure budget, that of Laplace noise."""
    count, laplace = composition.releases, composition.laplace_rho
    total = {"rho": count * composition.rho}
    return total if laplace is None else total | {"laplace_rho": count * laplace}


def _noise_section(inputs: dict[str, float | None], chosen: argparse.Namespace) -> dict[str, Any]:
    """Return the section on noise: what the releases need, or what a given noise costs.

    It is for both kinds of neighbours, unless the flags choose one.
    """
    noise, neighbours = inputs["noise-multiplier"], chosen.neighbours
    if noise is None:
        return _for_neighbours(_price_releases(inputs, chosen, None), neighbours).to_dict()
    for name, reason in (
        ("epsilon", "from which it follows"),
        ("steps", "which is of releases on all records or on batches"),
    ):
        if inputs[name] is not None:
            words = f"{name} must be left out beside noise-multiplier, {reason}"
            raise InvalidInput(f"{words}, got {name}={inputs[name]:g}.")
    if inputs["records"] is not None and chosen.sampling in (None, "none"):
        raise InvalidInput(
            "sampling must be fixed or poisson with records and noise-multiplier, "
            f"got sampling={chosen.sampling or 'none'}."
        )
    priced = _price_releases(inputs, chosen, neighbours or "replace-one")
    # The noise is given, so its counterpart for the other kind of neighbours is left out.
    given_name = "noise_multiplier_" + (neighbours or "replace-one").replace("-", "_")
    section = {
        name: value
        for name, value in priced.to_dict().items()
        if not name.startswith("noise_multiplier") or name == given_name
    }
    # For fixed batches the accountant has no proof for added or removed records.
    if neighbours is None and priced.sampling != "fixed":
        section["neighbours"] = "replace one, or add or remove one"
        section["epsilon_add_remove"] = _price_releases(inputs, chosen, "add-remove").epsilon
    elif neighbours is not None:
        section["neighbours"] = (
            "replace one" if neighbours == "replace-one" else "add or remove one"
        )
    return section


def _for_neighbours(priced: Priced, neighbours: Neighbours | None) -> Priced:
    """Return the releases with the noise for one kind of neighbours alone, or for both if None."""
    if neighbours is None:
        return priced
    if neighbours == "replace-one":
        return replace(priced, add_remove=None)
    is_proven = priced.add_remove is not None
    require(is_proven, "neighbours", "replace-one for fixed batches", neighbours)
    return replace(priced, replace_one=None)


def _training_code(inputs: dict[str, float | None], chosen: argparse.Namespace) -> str:
    """Return DP-SGD with the wanted noise as code; raise `InvalidInput` for bad flags."""
    for name in ("rho", "steps", "passes"):
        value = inputs[name]
        if value is not None:
            raise InvalidInput(f"{name} must be left out beside library, got {name}={value:g}.")
    if inputs["delta"] == 0:
        raise InvalidInput("delta must be above 0 beside library, got delta=0.")
    if inputs["noise-multiplier"] is not None and inputs["epsilon"] is not None:
        raise InvalidInput(
            "epsilon must be left out beside noise-multiplier, from which it follows, "
            f"got epsilon={inputs['epsilon']:g}."
        )
    if inputs["batch"] is None or inputs["records"] is None:
        raise InvalidInput("batch and records must be given with library, got none.")
    chosen.sampling = chosen.sampling or "poisson"
    neighbours: Neighbours = chosen.neighbours or "replace-one"
    clip = inputs["max-grad-norm"]
    return training_code(
        _price_releases(inputs, chosen, neighbours),
        batch=read_whole("batch", inputs["batch"]),
        records=read_whole("records", inputs["records"]),
        neighbours=neighbours,
        max_grad_norm=1.0 if clip is None else clip,
    )


def _price_releases(
    inputs: dict[str, float | None], chosen: argparse.Namespace, neighbours: Neighbours | None
) -> Priced:
    """Return the price of equal releases: the noise for the budget, or the epsilon of a noise."""
    sizes: dict[str, Any] = {"releases": 1, "sampling": chosen.sampling or "none"}
    for name in ("releases", "batch", "records"):
        value = inputs[name]
        is_for_batches = name == "releases" or chosen.sampling not in (None, "none")
        if value is not None and is_for_batches:
            sizes[name] = read_whole(name, value)
    point, noise = _point(inputs), inputs["noise-multiplier"]
    if noise is None:
        return noise_for(point.epsilon, point.delta, **sizes)
    assert neighbours is not None
    return epsilon_of(noise, point.delta, neighbours=neighbours, **sizes)


def _allocation_row(point: Point, steps: int, passes: int) -> dict[str, Any]:
    """Return the noise that steps on randomly allocated records need for a budget.

    Each record is used at one secret step of each pass.
    """
    if point.kind != "approx":
        raise InvalidInput(
            "budget must be an (epsilon, delta) one for random allocation, "
            f"got budget={point.kind}."
        )
    whole("steps", steps, 1, MOST_STEPS)
    whole("passes", passes, 1, MOST_PASSES)
    certificate = (
        allocate_steps(steps, point.epsilon, point.delta)
        if passes == 1
        else allocate_passes(steps, passes, point.epsilon, point.delta, PASS_POINTS)
    )
    noise = certificate.noise_multiplier
    # Replacing a record changes a sum by twice the largest norm of one record's contribution.
    return {
        "steps": steps,
        **({"passes": passes} if passes > 1 else {}),
        "noise_multiplier": noise / 2,
        "noise_over_norm": noise,
    }


def _point(inputs: dict[str, float | None]) -> Point:
    """Return the budget of the flags as a point of the calculator."""
    return point_of(inputs["epsilon"], inputs["delta"], inputs["rho"])


def _format_value(value: object) -> str:
    """Return a text unchanged, or a number as text."""
    return value if isinstance(value, str) else number(value)
