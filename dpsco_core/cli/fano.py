"""The command `dpsco fano`: Fano's inequality for a packing, or on the hard mean problem."""

import argparse
import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.parsing import to_plain
from dpsco_core.cli.tools import (
    add_command,
    format_table,
    number,
    print_json,
    print_note,
    read_number,
    read_whole,
)
from dpsco_core.explain.fano.builder import Builder
from dpsco_core.explain.fano.forms import best_forms, ladder, proofs
from dpsco_core.explain.fano.instance import HARDS, floors, mean_instance
from dpsco_core.fields import parse
from dpsco_core.privacy.budget import (
    ZCDP,
    ApproxDP,
    Budget,
    PureDP,
    concentrated_rho,
    pure_epsilon,
)

_PACKING = {
    "bits": "log2 of the number of words; with it, a packing of your own",
    "separation": "least distance of two words' parameters",
    "tv": "total variation of two words' laws of one record",
    "kl": "their Kullback-Leibler divergence in nats; inf is allowed",
}
_PROBLEM = {
    "n": "number of records",
    "d": "dimension",
    "p": "tail index: the order of the moment that is bounded by 1",
    "epsilon": "privacy budget epsilon",
    "delta": "privacy budget delta; 0 is pure DP",
    "rho": "zCDP budget",
    "radius": "bound R on the norm of the mean, in multiples of the unit: half of --diameter",
}
# By the kind of the budget, the bound from a packing applies to these algorithms.
BINDS = {
    ZCDP: "every zCDP algorithm",
    PureDP: "every pure DP algorithm, which is also {rho}-zCDP",
    ApproxDP: "every {rho}-zCDP algorithm: the Gaussian releases that meet the budget",
}
# This note explains why `dpsco bounds` may print a smaller value of the same bound.
OWN_DATA = (
    "every form is at its own best spike probability, as in dpsco bounds on other data; on data of "
    "its own instance dpsco bounds takes theirs, the spike_probability of the problem, where a "
    "form may be smaller."
)
# The printed numbers have these meanings, by their names in each part of the result.
_OF_PROBLEM = {
    "rho": "zCDP budget of Gaussian noise at this budget",
    "epsilon": "budget of the bounds on pure DP algorithms",
    "radius": "public bound on the norm of the mean",
    "spike_probability": "that of the data of `dpsco run`",
}
_OF_FLOORS = {
    "sampling": "every algorithm, private or not",
    "gaussian": "every algorithm, normal data with their mean anywhere",
    "concentrated": "every zCDP algorithm",
    "pure": "every pure DP algorithm",
}
OF_PROOFS = {
    "form": "the form that ends in the bound",
    "q": "spike probability: the share of records that carry the hidden word",
    "theta": "size of a coordinate of the mean",
    "mean_norm": "norm of the mean, the error of the answer 0",
    "log_size": "logarithm of the number of hidden words",
    "expected_changes": "mean number of spikes, n q",
    "squared_changes": "mean of the squared number of spikes",
    "information": "what a zCDP output can reveal of the word, in nats",
    "error": "least share of wrong signs, or chance of the wrong word",
    "typical": "a typical number of spikes: their mean, rounded",
    "told": "what an output reveals at so many spikes, in nats: rho times their square",
    "radius": "an answer is a hit within this distance of the word, in units of a sign",
    "share": "largest share of all words in a ball of that radius",
    "hit": "largest chance of a hit",
    "log_likelihood_ratio": "largest log likelihood ratio of two words at so many spikes",
    "failure": "delta of the whole group of spikes",
    "farthest": "distance of the answer 0 from the word",
    "nearest": "least mean distance of any answer at so many spikes",
    "bound": "lower bound on the mean error",
}
# By its title, each part of the result has its meanings; that on the user's own packing has none.
_MEANINGS = {"problem": _OF_PROBLEM, "floors": _OF_FLOORS} | dict.fromkeys(
    ("proof", "pure_proof", "expectile_proof"), OF_PROOFS
)
# By the value of "binds", a bound is about these algorithms.
_ALGORITHMS = {
    "approx": "every {budget} algorithm",
    "zcdp": "every {rho}-zCDP algorithm",
    "pure": "every {epsilon}-DP algorithm",
}
_LIMITS = ("sampling", "privacy")  # Either of these hides which codeword is the true one.
FANO = "fano-distance-cdp"  # the form that the dashboard and `dpsco run` call CDP Fano
_DEFAULTS: dict[str, float] = {
    "separation": 1.0,
    "tv": 0.001,
    "kl": math.inf,
    "n": 10_000,
    "d": 200,
    "p": 4.0,
    "radius": 2.0,
}


def add_fano(commands: Any) -> None:
    """Add the command `fano` to the parser."""
    parser = add_command(
        commands,
        "fano",
        run_fano,
        description="Without --bits: the lower bounds on the hard mean problem. The defaults, "
        "(n, d, p, rho) = (10000, 200, 4, 0.01), are a scene of the page Lower bounds in which "
        "privacy costs more than sampling; `dpsco run` has others, and prints CDP Fano at its own.",
    )
    for name, text in (_PACKING | _PROBLEM).items():
        default_text = f" (default {_DEFAULTS[name]:g})" if name in _DEFAULTS else ""
        parser.add_argument(f"--{name}", metavar="VALUE", help=text + default_text)
    parser.add_argument(
        "--distribution",
        metavar="VALUE",
        default=HARDS[0],
        help="hard instance whose proof is printed: " + " or ".join(HARDS),
    )


def run_fano(chosen: argparse.Namespace) -> None:
    """Print Fano's inequality for a packing, or the lower bounds on the hard mean problem.

    Raises `InvalidInput` for bad flags.
    """
    flags = {name: getattr(chosen, name) for name in (*_PACKING, *_PROBLEM)}
    if flags["bits"] is not None:
        numbers = _packing_numbers(flags)
    else:
        unused = [name for name in ("separation", "tv", "kl") if flags[name] is not None]
        if unused:
            raise InvalidInput(f"bits must be given with {unused[0]}, got bits=none.")
        numbers = _problem_numbers(flags, chosen.distribution)
    if chosen.json:
        print_json(numbers)
    else:
        _print_numbers(numbers)


def _packing_budget(flags: dict[str, str | None]) -> Budget:
    """Return the budget of the flags for a packing, by default 0.5-zCDP.

    Raises `InvalidInput` if rho is given beside epsilon or delta.
    """
    rho, epsilon, delta = (
        None if flags[name] is None else _parse_number(name, flags[name])
        for name in ("rho", "epsilon", "delta")
    )
    if rho is not None or (epsilon is None and delta is None):
        for name, value in (("epsilon", epsilon), ("delta", delta)):
            require(value is None, name, "left out beside rho", value)
        return ZCDP(rho=0.5 if rho is None else rho)
    epsilon, delta = 1.0 if epsilon is None else epsilon, 1e-6 if delta is None else delta
    return ApproxDP(epsilon=epsilon, delta=delta) if delta else PureDP(epsilon=epsilon)


def _packing_numbers(flags: dict[str, str | None]) -> dict[str, Any]:
    """Return the numbers of Fano's inequality for the packing that the flags describe."""
    budget = _packing_budget(flags)
    builder = Builder(
        bits=_parse_number("bits", flags["bits"]),
        separation=_parse_number("separation", flags["separation"]),
        total_variation=_parse_number("tv", flags["tv"]),
        kl=_parse_number("kl", flags["kl"]),
        n=_parse_whole("n", flags["n"]),
        rho=concentrated_rho(budget),
        epsilon=pure_epsilon(budget),
    )
    names = [field.name for field in fields(Builder)]
    names += ["log_size", "expected_changes", "squared_changes"]
    names += [f"{who}_{what}" for what in ("information", "error", "bound") for who in _LIMITS]
    names += ["bound", "squared_bound", "pure_bound"]
    if not isinstance(budget, PureDP):  # Only a pure budget has a pure epsilon.
        names = [name for name in names if name not in ("epsilon", "pure_bound")]
    numbers = {name: to_plain(float(getattr(builder, name))) for name in names}
    binds = BINDS[type(budget)].format(rho=number(builder.rho))
    return {"packing": {"budget": str(budget), "binds": binds} | numbers | {"bites": builder.bites}}


def _problem_numbers(flags: dict[str, str | None], hard: str) -> dict[str, Any]:
    """Return the lower bounds on the hard mean problem at the sizes of the flags."""
    budget = {name: parse(name, flags[name]) for name in ("epsilon", "delta", "rho")}
    if all(value is None for value in budget.values()):
        budget["rho"] = 0.01
    elif budget["rho"] is None:
        budget["epsilon"] = 1.0 if budget["epsilon"] is None else budget["epsilon"]
        budget["delta"] = 1e-6 if budget["delta"] is None else budget["delta"]
    instance = mean_instance(
        hard=hard,
        n=_parse_whole("n", flags["n"]),
        d=_parse_whole("d", flags["d"]),
        p=_parse_number("p", flags["p"]),
        mean_bound=_parse_number("radius", flags["radius"]),
        **budget,
    )
    point = instance.scenario
    return {
        "problem": {
            "distribution": point.distribution,
            "n": point.n,
            "d": point.d,
            "p": point.p,
            "budget": str(point.budget),
            "rho": instance.rho,
            "epsilon": instance.epsilon,
            "radius": instance.mean_bound,
            "spike_probability": instance.own_probability,
        },
        "floors": vars(floors(instance)),
        "forms": [vars(rung) for rung in ladder(instance)],
        "best": [
            {
                "key": form.key,
                "slug": form.slug,
                "binds": form.binds,
                "spike_probability": form.q,
                "value": form.value,
            }
            for form in best_forms(instance)
        ],
    } | proofs(instance)


def _parse_number(name: str, text: str | None) -> float:
    """Return the number that the flag `name` has as its text, or its default if it is left out."""
    return _DEFAULTS[name] if text is None else read_number(name, text)


def _parse_whole(name: str, text: str | None) -> int:
    """Return the integer that the flag `name` has as its text, or its default if left out."""
    return read_whole(name, _parse_number(name, text))


def _print_numbers(numbers: dict[str, Any]) -> None:
    """Print each part of the command's result, a table or a list of values with their meanings."""
    if "best" in numbers:
        _print_sharpest(numbers["problem"], numbers["best"])
    for title, part in numbers.items():
        print(f"{title.capitalize().replace('_', ' ')}\n")
        if isinstance(part, list):
            print(
                format_table(
                    [
                        [_format_value(v, 4 if k == "q" else 6) for k, v in row.items()]
                        for row in part
                    ],
                    list(part[0]),
                )
            )
        else:
            meanings = _MEANINGS.get(title, {})
            lines = [
                [name, _format_value(value), meanings.get(name, "")] for name, value in part.items()
            ]
            print(format_table(lines, ["name", "value", "meaning" * bool(meanings)]))
        print()
    if "problem" in numbers:
        print_note(OWN_DATA)


def _print_sharpest(problem: dict[str, Any], best: Sequence[dict[str, Any]]) -> None:
    """Print the largest lower bound for each notion of privacy, and Fano's for zCDP.

    `best` is in order, the largest bound first.
    """
    words = {"budget": problem["budget"]}
    words |= {name: number(problem[name]) for name in ("rho", "epsilon")}
    print("Sharpest lower bounds on the mean error\n")
    lines = []
    for notion, text in _ALGORITHMS.items():
        rows = [row for row in best if row["binds"] == notion]
        lines += [[text.format(**words), number(row["value"]), row["key"]] for row in rows[:1]]
    fano_rows = [row for row in best if row["key"] == FANO]
    lines += [["CDP Fano, as in `dpsco run`", number(row["value"]), FANO] for row in fano_rows]
    print(format_table(lines, ["for", "value", "form"]) + "\n")


def _format_value(value: object, digits: int = 6) -> str:
    """Return a number with some significant digits, or any other value as text."""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
