"""A golden file: the numbers of the command line over methods, problems, geometries and bounds.

And the ledgers of every private method, entry by entry, with what was released. For moves of the
tree, which must not change a number: write the file before, compare after, on the same machine.

    python -m tests.golden write FILE
    python -m tests.golden compare FILE
    python -m tests.golden compare FILE ledger   # only what begins with this word
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.catalogue import make_method
from dpsco_core.cli.main import main
from dpsco_core.privacy import Ledger
from tests.trust.cases import CASES, PRIVATE, Case, case

Answer = dict[str, Any] | list[Any]
BUDGETS = (
    ("--epsilon", "1", "--delta", "1e-6"),
    ("--rho", "0.5"),
    ("--epsilon", "2", "--delta", "0"),
)
SETS = (("l1",), ("linf",), ("lq", "--q", "1.5"), ("lq", "--q", "3"), ("simplex",), ("sparse",))
# These runs are of users with several items: with so few users that filters stop the run, and with
# enough.
USERS = (
    ("--m", "4", "--n", "1000", "--d", "10", "--epsilon", "2", "--delta", "1e-5"),
    ("--m", "30", "--n", "400", "--d", "5", "--epsilon", "4", "--delta", "1e-4"),
    ("--m", "4", "--n", "2000", "--d", "3", "--epsilon", "8", "--delta", "0.01"),
    ("--m", "20", "--n", "500", "--d", "3", "--rho", "0.5"),
)
TUNINGS = (("tight", "practical"), ("paper", "practical"), ("tight", "theory"), ("paper", "theory"))
TIMES = ("seconds",)  # These fields differ from run to run.


def ask(*words: str) -> Any:
    """Return what a command prints as JSON, without times; or its status and its last line."""
    out, complaint = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(complaint):
        try:
            status = main([*words, "--json"])
        except SystemExit as end:
            status = end.code
    if status:
        return {"status": status, "said": complaint.getvalue().strip().splitlines()[-1:]}
    return timeless(json.loads(out.getvalue()))


def timeless(answer: Any) -> Any:
    """Return an answer without the times in it."""
    if isinstance(answer, dict):
        return {k: timeless(v) for k, v in answer.items() if k not in TIMES}
    if isinstance(answer, list):
        return [timeless(item) for item in answer]
    return answer


def commands() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command whose answer is kept."""
    catalogue = ask("catalogue")
    yield ("catalogue",)
    yield ("errata",)
    yield ("fano", "--n", "10000", "--d", "200", "--p", "4", "--rho", "0.5")
    yield ("budget", "--epsilon", "1", "--delta", "1e-6", "--releases", "100")
    yield from (("about", method["slug"]) for method in catalogue["methods"])
    for problem in (row["slug"] for row in catalogue["problems"]):
        slugs = [m["slug"] for m in catalogue["methods"] if problem in m["problems"]]
        run = ("run", "--problem", problem, *(w for slug in slugs for w in ("--method", slug)))
        run = (*run, "--n", "1000", "--d", "10", "--p", "3", "--trials", "1", "--seed", "7")
        yield from ((*run, "--geometry", *words) for words in SETS)
        yield from ((*run, *budget) for budget in BUDGETS)
        yield from ((*run, "--calibration", c, "--tuning", t) for c, t in TUNINGS)
        yield (*run, "--distribution", "hypercube")
        users = [m["slug"] for m in catalogue["methods"] if m["level"] == "user"]
        user_slugs = [slug for slug in slugs if slug in users]
        user_run = (
            "run",
            "--problem",
            problem,
            *(w for slug in user_slugs for w in ("--method", slug)),
        )
        for words in USERS:
            yield (*user_run, "--p", "3", "--trials", "1", "--seed", "7", *words)
        ask_bounds = ("bounds", "--problem", problem, "--p", "3")
        for n, d, budget in itertools.product(("100", "100000"), ("1", "50"), BUDGETS):
            yield (*ask_bounds, "--n", n, "--d", d, *budget)
        yield (*ask_bounds, "--n", "20000", "--m", "30", "--d", "8")


def booked(place: Case) -> dict[str, Any]:
    """Return the ledger's entries and the releases of a private method's run, or the sentence that
    refuses it.
    """
    setting, rng = place.point.setting, np.random.default_rng(7)
    ledger = Ledger(setting.budget)
    try:
        result = place.method.release(place.crowd(0), place.plan(), ledger, rng)
    except (InvalidInput, NotApplicable) as refusal:
        return {"refused": str(refusal)}
    return {
        "entries": [asdict(entry) for entry in ledger.entries],
        "spent": str(ledger.spent()),
        "bound_by": ledger.bound_by(),
        "flaws": ledger.flaws,
        "value": np.asarray(result.value).tolist(),
        "diagnostics": repr(result.diagnostics),
        "iterates": np.asarray(result.iterates).tolist(),
        "state": rng.bit_generator.state,  # The state shows how many numbers were drawn.
    }


def ledgers() -> Iterator[tuple[str, Case]]:
    """Yield the small runs of `tests/trust`, and those with a paper's own noise and parameters."""
    for name in CASES:
        yield f"ledger of {name}", case(name)
    for slug in PRIVATE:
        printed = make_method(slug, "paper", "theory")
        yield f"ledger of {slug}, as printed", replace(case(slug), method=printed, planned=None)


def answers(start: str = "") -> dict[str, Any]:
    """Return every answer whose name begins with `start`, by its command or its ledger."""
    runs = {name: booked(place) for name, place in ledgers() if name.startswith(start)}
    chosen = (words for words in commands() if " ".join(words).startswith(start))
    return runs | {" ".join(words): ask(*words) for words in chosen}


def differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Yield the places where two answers differ, to the last bit."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from differences(old.get(key), new.get(key), f"{place}/{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (old_item, new_item) in enumerate(zip(old, new, strict=True)):
            yield from differences(old_item, new_item, f"{place}[{index}]")
    elif old != new:
        yield f"{place}: {old} became {new}"


if __name__ == "__main__":
    _, verb, name, *start = sys.argv
    if verb == "write":
        Path(name).write_text(json.dumps(answers(*start)), encoding="utf-8")
    else:
        whole = json.loads(Path(name).read_text(encoding="utf-8"))
        old = {key: answer for key, answer in whole.items() if key.startswith("".join(start))}
        changes = list(differences(old, json.loads(json.dumps(answers(*start)))))
        sys.stdout.write("\n".join([*changes[:100], f"{len(changes)} differences"]) + "\n")
        sys.exit(bool(changes))
