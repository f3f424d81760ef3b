"""Writes docs/verification.md from the tests themselves; `test_verification.py` keeps it true."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from dpsco_core.catalogue import METHODS
from tests.trust import checks
from tests.trust.cases import PRIVATE, VARIANTS, case
from tests.trust.independent import COUNTERPARTS
from tests.trust.mutants import FAULTS, MUTANTS, Mutant
from tests.trust.theory import EXPLICIT

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "verification.md"
# Methods have their own tests in these folders.
METHOD_AREAS = ("methods", "audit", "privacy")
COMMAND = "WRITE_VERIFICATION=1 python -m pytest tests/trust/test_verification.py"

INTRODUCTION = f"""# Verification

What carries the claim of each private method and of each explicit bound, and how to run it. The
tables are written by the test suite, and a test fails where they are out of date:

    {COMMAND}

| to run | what it does |
|---|---|
| `make test` | everything that is not marked slow, the checks below among it |
| `make test-slow` | thousands of settings, long searches for neighbours, long audits |
| `python -m pytest tests/trust` | this page's checks alone |
| `python -m pytest tests/trust/test_mutants.py -v` | the faults, each with what found it |
| `dpsco audit --method mean.clipped` | what 20,000 runs prove of one method |

Statistical tests fix their seeds and have a false-alarm rate of 1e-6. The checks see a method from
outside: a tape records what goes through the ledger, and replays it on a neighbour, so that both
runs are asked the same questions. What they do not cover is in `SECURITY.md`: floating-point
attacks, timing, and who else uses the machine.
"""

CHECKS = {
    checks.check_attained: "On worst-case neighbours, along one sequence of releases, no statistic "
    "moves further than the ledger says, at most one disjoint block moves, and more than half of "
    "the claim is reached (of a robust filter the claim is its theorem's, written out again).",
    checks.check_noise: "Chi-square: the noise that was drawn has the scale that the ledger has "
    "recorded, and that scale is the sensitivity's. The slow suite draws 8,000 numbers of each "
    "method, and shows that 5 % too little would be seen.",
    checks.check_noise_is_fresh: "One generator adds the same noise to any data; no two draws and "
    "no two generators do.",
    checks.check_plan_is_fixed: "With the statistics blanked, a run on data a thousand times as "
    "large, or broken, is the same to the last bit: radii, steps, diagnostics, path, and how many "
    "numbers were drawn.",
    checks.check_ledger: "Shares add up to the budget to 1e-12 by exact sums (and the Gaussian "
    "curve with 40 digits), and every noisy number belongs to an entry of the run's own ledger.",
}
SHARED_CHECKS = """Every method is also tried on neighbours that hypothesis makes (ties, duplicates,
denormals, infinities, NaN, a whole user replaced), and at every kind of budget:
`tests/trust/test_exact.py`; on a list of broken and far records, with losses of other problems, and
at any clip level: `tests/trust/test_hostile.py`; and in every calibration and tuning in which it
runs, and with data of another size than it was planned for, which it refuses:
`tests/trust/test_calibrations.py`. Nothing there names a method, so that a new one of the catalogue
is covered as it is. Faults of a few methods, each with its check, are in `tests/trust/finer.py`.
"""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def short(check: checks.Check) -> str:
    """Return the name of a check as it stands in the tables."""
    return f"`{check.__name__.removeprefix('check_')}`"


def claims() -> str:
    """Return the table of methods, and of the test files that are about them."""
    rows = []
    for family in METHODS:
        private = family.card.privacy != "none"
        claim = f"{family.card.paper.key}, {family.card.statement}" if private else "no claim"
        places = ", ".join(f"`{path}`" for path in tests_of(family.__name__))
        rows.append([f"`{family.card.slug}`", claim, places])
    return table(["method", "claim", "tests of its own (in `tests/`)"], rows)


def tests_of(family: str) -> list[str]:
    """Return the test files that name a method, or else use a helper that does."""
    sources = {
        path.relative_to(ROOT / "tests").as_posix(): path.read_text(encoding="utf-8")
        for area in METHOD_AREAS
        for path in sorted((ROOT / "tests" / area).rglob("*.py"))
    }
    tests = [path for path in sources if "/test_" in path]
    mentions = {path for path, source in sources.items() if re.search(rf"\b{family}\b", source)}
    direct = [path for path in tests if path in mentions]
    helpers = {path.removesuffix(".py").replace("/", ".") for path in mentions.difference(tests)}
    users = [p for p in tests if any(f"tests.{h} import" in sources[p] for h in helpers)]
    return direct or users


def faults() -> str:
    """Return the table of deliberate faults, with what finds each."""
    rows = []
    for name in (*PRIVATE, *VARIANTS):
        cells = [Mutant(case=name, fault=fault) for fault in FAULTS]
        rows.append([name, *("n/a" if m.not_applicable else short(m.fault.check) for m in cells)])
    return table(["method", *(fault.name for fault in FAULTS)], rows)


def reasons() -> str:
    """Return a line for each fault that a method cannot have, with the reason."""
    missing = [m for m in MUTANTS if m.case in PRIVATE and m.not_applicable]
    return "\n".join(f"- n/a: {m.case}, {m.fault.name}: {m.not_applicable}." for m in missing)


def bounds() -> str:
    """Return the table of explicit bounds, with their second implementations."""
    rows = [
        [f"`{b.card.slug}`", b.card.guarantee, f"`{COUNTERPARTS[b.card.slug]}`"] for b in EXPLICIT
    ]
    return table(["explicit bound", "holds in", "second implementation"], rows)


def page() -> str:
    """Return the whole text of docs/verification.md."""
    described = [[short(check), words] for check, words in CHECKS.items()]
    count = sum(not m.not_applicable for m in MUTANTS)
    kinds = {case(name).slug for name in VARIANTS}
    return "\n".join(
        [
            INTRODUCTION,
            "## The checks of every private method\n",
            table(["check", "what it shows"], described),
            SHARED_CHECKS,
            "## Deliberate faults\n",
            f"{count} ways to break {len(PRIVATE)} methods ({len(kinds)} of them in their second "
            "ways to be private too); each is found by the check that is named, and the unbroken "
            "method passes it in the same test.\n",
            faults(),
            reasons() + "\n",
            "## Methods\n",
            claims(),
            "## Bounds\n",
            "No explicit lower bound is above an explicit upper bound that holds on the same hard "
            "instance, at 300 random settings (`make test`) and 10,000 (`make test-slow`); they "
            "fall with the records and the budget, and have the right limits: "
            "`tests/trust/test_theory.py`. Each is evaluated a second time:\n",
            bounds(),
        ]
    )
