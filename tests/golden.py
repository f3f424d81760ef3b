"""A golden file: the numbers of the command line over methods, problems, geometries and bounds.

For moves of the tree, which must not change a number: write the file before, compare after, on the
same machine.

    python -m tests.golden write FILE
    python -m tests.golden compare FILE
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dpsco_core.cli.main import main

Answer = dict[str, Any] | list[Any]
BUDGETS = (
    ("--epsilon", "1", "--delta", "1e-6"),
    ("--rho", "0.5"),
    ("--epsilon", "2", "--delta", "0"),
)
SETS = (("l1",), ("linf",), ("lq", "--q", "1.5"), ("lq", "--q", "3"), ("simplex",), ("sparse",))
TUNINGS = (("tight", "practical"), ("paper", "practical"), ("tight", "theory"), ("paper", "theory"))
TIMES = ("seconds",)  # what differs from run to run


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
    """Yield every command that is asked."""
    catalogue = ask("catalogue")
    yield ("catalogue",)
    yield ("errata",)
    yield ("fano", "--n", "10000", "--d", "200", "--p", "4", "--rho", "0.5")
    yield ("budget", "--epsilon", "1", "--delta", "1e-6", "--releases", "100")
    yield from (("about", method["slug"]) for method in catalogue["methods"])
    for problem in (row["slug"] for row in catalogue["problems"]):
        made = [m["slug"] for m in catalogue["methods"] if problem in m["problems"]]
        run = ("run", "--problem", problem, *(w for slug in made for w in ("--method", slug)))
        run = (*run, "--n", "1000", "--d", "10", "--p", "3", "--trials", "1", "--seed", "7")
        yield from ((*run, "--geometry", *words) for words in SETS)
        yield from ((*run, *budget) for budget in BUDGETS)
        yield from ((*run, "--calibration", c, "--tuning", t) for c, t in TUNINGS)
        yield (*run, "--distribution", "hypercube")
        if problem != "mean":
            yield (*run, "--m", "4", "--epsilon", "2", "--delta", "1e-5")
        ask_bounds = ("bounds", "--problem", problem, "--p", "3")
        for n, d, budget in itertools.product(("100", "100000"), ("1", "50"), BUDGETS):
            yield (*ask_bounds, "--n", n, "--d", d, *budget)
        yield (*ask_bounds, "--n", "20000", "--m", "30", "--d", "8")


def answers() -> dict[str, Any]:
    """Return every answer, by its command."""
    return {" ".join(words): ask(*words) for words in commands()}


def differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """Yield where two answers differ, to the last bit."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from differences(old.get(key), new.get(key), f"{place}/{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from differences(one, other, f"{place}[{index}]")
    elif old != new:
        yield f"{place}: {old} became {new}"


if __name__ == "__main__":
    _, verb, name = sys.argv
    if verb == "write":
        Path(name).write_text(json.dumps(answers()), encoding="utf-8")
    else:
        old = json.loads(Path(name).read_text(encoding="utf-8"))
        changes = list(differences(old, json.loads(json.dumps(answers()))))
        sys.stdout.write("\n".join([*changes[:100], f"{len(changes)} differences"]) + "\n")
        sys.exit(bool(changes))
