"""The rules of the house, each shown to catch a deliberate fault.

A rule is a function of a module's name and its source that returns what is wrong with it, in
sentences. It runs over every file of the tree, and over snippets that break it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

Rule = Callable[[str, str], list[str]]

# Imports point to a lower level only: dpsco_app -> study -> catalogue -> sco, users, mean, bounds
# -> problems -> data -> geometry, privacy.
LEVEL = {
    "errors": 0,
    "arrays": 0,
    "blas": 0,
    "dispatch": 0,
    "interrupts": 0,
    "card": 0,
    "last": 0,
    "limits": 0,
    "loss_classes": 0,
    "parsing": 0,  # text to numbers and back
    "seeds": 0,
    "geometry": 1,
    "privacy": 1,
    "data": 2,
    "problems": 3,
    "bounds": 4,
    "mean": 4,
    "sco": 4,
    "users": 4,
    "catalogue": 5,
    "passes": 5,  # which methods read their records in order
    "scenario": 6,
    "audit_stages": 7,
    "costing": 7,
    "memory": 7,
    "study": 7,
    "store": 7,
    "stories": 7,  # every method in words
    "allowed": 8,
    "anatomy": 8,
    "audits": 8,
    "errata": 8,
    "executors": 8,
    "regimes": 8,
    "tables": 8,
    "notebook": 9,
    "report": 9,
    "views": 10,  # what pages and commands show: any number of the library
    "": 10,  # dpsco_core itself: the public names
    "cli_tools": 10,
    "dask_cluster": 10,
    "cli_about": 11,  # one command each
    "cli_audit": 11,
    "cli_budget": 11,
    "cli_errata": 11,
    "cli_experiment": 11,
    "cli_fano": 11,
    "cli_study": 11,
    "cli": 12,
    "__main__": 13,
}
# Who may use whom on the same level; anything else there is a mistake.
PEERS = {
    ("arrays", "errors"),
    ("card", "errors"),
    ("card", "loss_classes"),
    ("limits", "errors"),
    ("dask_cluster", ""),  # the version, which its workers must have
    ("dispatch", "errors"),
    ("dispatch", "interrupts"),
    ("parsing", "errors"),
    ("parsing", "seeds"),
    ("privacy", "geometry"),  # noise shaped to a norm
    ("bounds", "mean"),  # the constants of the estimators that a bound is about
    ("sco", "mean"),  # a mean estimator as the gradient oracle
    ("users", "mean"),
    ("users", "sco"),
    ("costing", "memory"),
    ("costing", "study"),
    ("study", "memory"),
    ("store", "study"),
}
METHODS = {"bounds", "mean", "sco", "users"}

NOISE = {
    "exponential",
    "gamma",
    "gumbel",
    "laplace",
    "logistic",
    "multivariate_normal",
    "normal",
    "rvs",
    "standard_cauchy",
    "standard_exponential",
    "standard_gamma",
    "standard_normal",
    "standard_t",
}
# Data are drawn in data and problems; noise for privacy in one file.
MAY_DRAW = ("dpsco_core.data", "dpsco_core.problems", "dpsco_core.privacy.mechanisms")
# Draws that are neither data nor noise, each with its reason.
OTHER_DRAWS = {
    # Directions to search in, after the release: post-processing.
    ("dpsco_core.mean.directions", "standard_normal"),
    # Numbers to time the machine with.
    ("dpsco_core.costing", "standard_normal"),
    # The Monte-Carlo estimate of a Gaussian width, which looks at no data.
    ("dpsco_core.geometry.width", "standard_normal"),
    # The random directions of the page Geometry, for the same estimate.
    ("dpsco_core.views.mean_widths", "standard_normal"),
}
# Searches that take no candidate whose value is not finite for a choice, each with its reason.
OTHER_SEARCHES = {
    # Among candidates whose predicted risk is finite, the fewest steps.
    ("dpsco_core.users.accelerated_model", "min"),
    ("dpsco_core.users.clipped_means", "min"),
    # A bound is valid at every parameter, and infinite where it says nothing.
    ("dpsco_core.bounds.fano", "minimize_scalar"),
    ("dpsco_core.bounds.sco_uniform", "minimize_scalar"),
    ("dpsco_core.bounds.upper_coordinatewise", "minimize_scalar"),
    ("dpsco_core.bounds.upper_iterative", "minimize_scalar"),
    ("dpsco_core.privacy.budget", "minimize_scalar"),
    # For one of the numbers of steps that are compared by the module search.
    ("dpsco_core.problems.lq_regularized", "minimize_scalar"),
    # Of numbers that are always finite: moments on an interval, distances, an example's rows.
    ("dpsco_core.problems.laws", "argmin"),
    ("dpsco_core.problems.laws", "minimize_scalar"),
    ("dpsco_core.geometry.hull", "argmin"),
    ("dpsco_core.geometry.sparse_hull", "minimize_scalar"),
    ("dpsco_core.errata.su_runs", "min"),
}


def imported(module: str, source: str) -> Iterator[tuple[str, int]]:
    """Yield every module that `source` imports, anywhere in it, with its line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = module.split(".")[: -node.level]
                base = ".".join([*parents, base]).rstrip(".")
            # `from dpsco_core import privacy` imports the package privacy, not the root.
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)


def component(module: str) -> str | None:
    """Return the name in `LEVEL` of a module of dpsco_core; None for any other module."""
    first, _, rest = module.partition(".")
    name = rest.partition(".")[0]
    if first != "dpsco_core":
        return None
    return "" if name == "__init__" else name


def target(name: str) -> str:
    """Return the module that an imported name is in, where `name` may be a public object."""
    path = ROOT.joinpath(*name.split("."))
    is_module = path.is_dir() or path.with_suffix(".py").exists() or name.count(".") == 0
    is_level = component(name) in LEVEL and name.count(".") == 1
    return name if is_module or is_level else name.rpartition(".")[0]


def imports_point_down(module: str, source: str) -> list[str]:
    """dpsco_core: from a higher level to a lower one, or between the named peers."""
    here = component(module)
    if here is None:
        return []
    if here not in LEVEL:
        return [f"{module}: {here} has no level; add it to LEVEL"]
    faults = []
    for name, line in imported(module, source):
        there = component(target(name))
        if there is None or there == here:
            continue
        down = there in LEVEL and LEVEL[there] < LEVEL[here]
        if not down and (here, there) not in PEERS:
            faults.append(f"{module}:{line} imports {name}, which is not below it")
    return faults


def a_scenario_knows_methods_by_slug(module: str, source: str) -> list[str]:
    """scenario.py takes the words (Calibration, Tuning) of a package's base, never a method."""
    if module != "dpsco_core.scenario":
        return []
    return [
        f"{module}:{line} imports {name}"
        for name, line in imported(module, source)
        if component(name) in METHODS and name.split(".")[2:3] != ["base"]
    ]


def core_is_free_of_the_dashboard(module: str, source: str) -> list[str]:
    """dpsco_core imports neither Streamlit, nor Plotly, nor dpsco_app."""
    if not module.startswith("dpsco_core"):
        return []
    forbidden = {"streamlit", "plotly", "altair", "dpsco_app", "app"}
    return [
        f"{module}:{line} imports {name}"
        for name, line in imported(module, source)
        if name.split(".")[0] in forbidden
    ]


def app_has_no_mathematics(module: str, source: str) -> list[str]:
    """dpsco_app draws no random number and uses no scipy."""
    if module.split(".")[0] not in ("dpsco_app", "app"):
        return []
    faults = []
    for name, line in imported(module, source):
        if name.split(".")[0] in ("scipy", "random") or name.startswith("numpy.random"):
            faults.append(f"{module}:{line} imports {name}")
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Attribute)
            and node.attr == "random"
            and isinstance(node.value, ast.Name)
            and node.value.id in ("np", "numpy")
        ):
            faults.append(f"{module}:{node.lineno} uses numpy.random")
    return faults


def noise_is_drawn_in_mechanisms_only(module: str, source: str) -> list[str]:
    """No draw from a continuous law outside data, problems and privacy/mechanisms.py."""
    if module.startswith(MAY_DRAW):
        return []
    faults = []
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        name = node.func.attr
        # `ledger.laplace(...)` is the one way to such noise.
        by_ledger = ast.unparse(node.func.value).split(".")[-1] in ("ledger", "Ledger")
        if name in NOISE and not by_ledger and (module, name) not in OTHER_DRAWS:
            faults.append(f"{module}:{node.lineno} calls .{name}()")
    return faults


def wrong_ledgers_stay_in_the_audits(module: str, source: str) -> list[str]:
    """Nobody but dpsco_core.audits sees the ledgers whose noise is wrong on purpose."""
    doubles = "dpsco_core.privacy.audit_doubles"
    if module in ("dpsco_core.audits", doubles):
        return []
    return [
        f"{module}:{line} imports {name}"
        for name, line in imported(module, source)
        if name.startswith(doubles)
    ]


def searches_pass_over_what_is_not_finite(module: str, source: str) -> list[str]:
    """dpsco_core: the smallest of candidates is found by dpsco_core.problems.search."""
    if not module.startswith("dpsco_core.") or module == "dpsco_core.problems.search":
        return []
    faults = []
    for node in ast.walk(ast.parse(source)):
        name = ""
        if isinstance(node, ast.Attribute | ast.Name):
            name = node.attr if isinstance(node, ast.Attribute) else node.id
        by_key = isinstance(node, ast.Call) and any(word.arg == "key" for word in node.keywords)
        if isinstance(node, ast.Call) and by_key and ast.unparse(node.func) == "min":
            name = "min"
        elif name not in ("argmin", "nanargmin", "minimize_scalar"):
            continue
        if (module, name) not in OTHER_SEARCHES:
            faults.append(f"{module}:{node.lineno} uses {name}")
    return faults


def no_error_is_silenced(module: str, source: str) -> list[str]:
    """No bare except, no `except Exception`: a page's StopException must pass too."""
    faults = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ExceptHandler):
            continue
        caught = [node.type] if not isinstance(node.type, ast.Tuple) else node.type.elts
        names = {ast.unparse(kind).split(".")[-1] if kind else "" for kind in caught}
        if names & {"", "Exception", "BaseException"}:
            faults.append(f"{module}:{node.lineno} catches everything")
    return faults


def a_file_is_one_idea(module: str, source: str) -> list[str]:
    """No file above 400 lines."""
    lines = len(source.splitlines())
    return [f"{module} has {lines} lines"] if lines > 400 else []


def a_module_says_what_it_is(module: str, source: str) -> list[str]:
    """Every module has a docstring."""
    return [] if ast.get_docstring(ast.parse(source)) else [f"{module} has no docstring"]


RULES: tuple[Rule, ...] = (
    imports_point_down,
    a_scenario_knows_methods_by_slug,
    core_is_free_of_the_dashboard,
    app_has_no_mathematics,
    noise_is_drawn_in_mechanisms_only,
    wrong_ledgers_stay_in_the_audits,
    searches_pass_over_what_is_not_finite,
    no_error_is_silenced,
    a_file_is_one_idea,
    a_module_says_what_it_is,
)


def modules() -> dict[str, str]:
    """Return the source of every module of the two packages and of app.py, by dotted name."""
    files = [*ROOT.glob("dpsco_core/**/*.py"), *ROOT.glob("dpsco_app/**/*.py"), ROOT / "app.py"]
    found = {}
    for path in sorted(p for p in files if p.exists()):
        parts = path.relative_to(ROOT).with_suffix("").parts
        # A package keeps its __init__, so that its relative imports resolve like its modules'.
        found[".".join(parts)] = path.read_text(encoding="utf-8")
    return found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_tree_keeps_the_rule(rule: Rule) -> None:
    sources = modules()
    assert "dpsco_core.privacy.ledger" in sources
    faults = [fault for module, source in sources.items() for fault in rule(module, source)]
    assert not faults, "\n".join(faults)


WRONG = [
    (imports_point_down, "dpsco_core.privacy.ledger", "from dpsco_core.mean import base"),
    (imports_point_down, "dpsco_core.privacy.ledger", "import dpsco_core.study"),
    (imports_point_down, "dpsco_core.privacy.ledger", "from ..data import rows"),
    (imports_point_down, "dpsco_core.privacy.__init__", "from ..data.rows import Rows"),
    (imports_point_down, "dpsco_core.geometry.norms", "from dpsco_core.privacy import Ledger"),
    (imports_point_down, "dpsco_core.data.rows", "from dpsco_core import problems"),
    (imports_point_down, "dpsco_core.mean.base", "from dpsco_core.bounds.base import Bound"),
    (imports_point_down, "dpsco_core.mean.base", "from dpsco_core import Ledger"),
    (imports_point_down, "dpsco_core.scenario", "from dpsco_core.study import study"),
    (imports_point_down, "dpsco_core.catalogue", "from dpsco_core import scenario"),
    (imports_point_down, "dpsco_core.study", "from dpsco_core.cli import main"),
    (a_scenario_knows_methods_by_slug, "dpsco_core.scenario", "from dpsco_core.mean import A"),
    (a_scenario_knows_methods_by_slug, "dpsco_core.scenario", "import dpsco_core.mean.clipped"),
    (imports_point_down, "dpsco_core.errors", "from dpsco_core.card import Card"),
    (imports_point_down, "dpsco_core.catalogue", "def f():\n    import dpsco_core.study"),
    (imports_point_down, "dpsco_core.novelty", "import math"),
    (core_is_free_of_the_dashboard, "dpsco_core.study", "import streamlit as st"),
    (core_is_free_of_the_dashboard, "dpsco_core.study", "from plotly import graph_objects"),
    (core_is_free_of_the_dashboard, "dpsco_core.cli", "def f():\n    import dpsco_app.charts"),
    (app_has_no_mathematics, "dpsco_app.charts", "from scipy.stats import norm"),
    (app_has_no_mathematics, "dpsco_app.charts", "import numpy as np\nnp.random.default_rng()"),
    (app_has_no_mathematics, "dpsco_app.charts", "from numpy import random"),
    (app_has_no_mathematics, "app", "from numpy.random import default_rng"),
    (noise_is_drawn_in_mechanisms_only, "dpsco_core.mean.clipped", "x = rng.normal(size=3)"),
    (noise_is_drawn_in_mechanisms_only, "dpsco_core.mean.clipped", "rng.standard_normal(3)"),
    (noise_is_drawn_in_mechanisms_only, "dpsco_core.privacy.ledger", "rng.laplace(scale=2)"),
    (noise_is_drawn_in_mechanisms_only, "dpsco_core.mean.directions", "rng.normal(3)"),
    (noise_is_drawn_in_mechanisms_only, "dpsco_app.running", "norm.rvs(3)"),
    (
        wrong_ledgers_stay_in_the_audits,
        "dpsco_core.mean.clipped",
        "from dpsco_core.privacy.audit_doubles import WrongNoise",
    ),
    (
        wrong_ledgers_stay_in_the_audits,
        "dpsco_app.privacy_audit",
        "from dpsco_core.privacy import audit_doubles",
    ),
    (searches_pass_over_what_is_not_finite, "dpsco_core.sco.tuning", "min(found, key=risk)"),
    (searches_pass_over_what_is_not_finite, "dpsco_core.sco.tuning", "i = risks.argmin()"),
    (searches_pass_over_what_is_not_finite, "dpsco_core.mean.clipped", "np.nanargmin(risks)"),
    (searches_pass_over_what_is_not_finite, "dpsco_core.mean.clipped", "minimize_scalar(f)"),
    (no_error_is_silenced, "dpsco_core.study", "try:\n    f()\nexcept Exception:\n    pass"),
    (no_error_is_silenced, "dpsco_core.study", "try:\n    f()\nexcept:\n    pass"),
    (no_error_is_silenced, "app", "try:\n    f()\nexcept (ValueError, BaseException):\n    pass"),
    (no_error_is_silenced, "app", "try:\n    f()\nexcept builtins.Exception as e:\n    pass"),
    (a_file_is_one_idea, "dpsco_core.study", "x = 1\n" * 401),
    (a_module_says_what_it_is, "dpsco_core.study", "x = 1"),
]

RIGHT = [
    (imports_point_down, "dpsco_core.mean.base", "from dpsco_core.privacy import Ledger"),
    (imports_point_down, "dpsco_core.sco.cwme", "from dpsco_core.mean import base"),
    (imports_point_down, "dpsco_core.privacy.__init__", "from .ledger import Ledger"),
    (imports_point_down, "dpsco_core.cli", "from dpsco_core import study, catalogue"),
    (imports_point_down, "dpsco_core.scenario", "from dpsco_core import catalogue"),
    (a_scenario_knows_methods_by_slug, "dpsco_core.scenario", "from dpsco_core.mean.base import X"),
    (imports_point_down, "dpsco_core.__init__", "from dpsco_core.tables import frame"),
    (imports_point_down, "dpsco_core.cli", "from dpsco_core import __version__"),
    (imports_point_down, "dpsco_app.running", "from dpsco_core.study import study"),
    (app_has_no_mathematics, "dpsco_app.charts", "import numpy as np\nnp.log10(2.0)"),
    (app_has_no_mathematics, "dpsco_core.data.rows", "from scipy.stats import norm"),
    (noise_is_drawn_in_mechanisms_only, "dpsco_core.data.laws", "rng.standard_t(3)"),
    (noise_is_drawn_in_mechanisms_only, "dpsco_core.mean.clipped", "ledger.laplace(value)"),
    (noise_is_drawn_in_mechanisms_only, "dpsco_core.mean.directions", "rng.standard_normal(3)"),
    (noise_is_drawn_in_mechanisms_only, "dpsco_core.mean.iterative", "rng.permutation(3)"),
    (noise_is_drawn_in_mechanisms_only, "dpsco_core.mean.clipped", "# rng.normal()\n'.normal('"),
    (
        wrong_ledgers_stay_in_the_audits,
        "dpsco_core.audits",
        "from dpsco_core.privacy.audit_doubles import WrongNoise",
    ),
    (wrong_ledgers_stay_in_the_audits, "dpsco_core.study", "from dpsco_core.privacy import Ledger"),
    (searches_pass_over_what_is_not_finite, "dpsco_core.sco.tuning", "min(1, 2)"),
    (searches_pass_over_what_is_not_finite, "dpsco_core.sco.tuning", "smallest(a, f, of='step')"),
    (no_error_is_silenced, "app", "try:\n    f()\nexcept ValueError:\n    pass"),
    (a_file_is_one_idea, "dpsco_core.study", "x = 1\n" * 400),
    (a_module_says_what_it_is, "dpsco_core.study", '"""A study."""'),
]


@pytest.mark.parametrize(("rule", "module", "source"), WRONG)
def test_the_rule_catches_a_fault(rule: Rule, module: str, source: str) -> None:
    assert rule(module, source)


@pytest.mark.parametrize(("rule", "module", "source"), RIGHT)
def test_the_rule_lets_sound_code_pass(rule: Rule, module: str, source: str) -> None:
    assert not rule(module, source)


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """Return one cycle of a directed graph as a path, or nothing."""
    done: set[str] = set()

    def visit(node: str, path: list[str]) -> list[str]:
        if node in path:
            return [*path[path.index(node) :], node]
        if node in done:
            return []
        for after in sorted(graph.get(node, ())):
            if found := visit(after, [*path, node]):
                return found
        done.add(node)
        return []

    return next((found for node in sorted(graph) if (found := visit(node, []))), [])


def test_no_modules_import_each_other_in_a_circle() -> None:
    sources = modules()
    graph = {}
    for module, source in sources.items():
        used = {target(name) for name, _ in imported(module, source)}
        used |= {f"{name}.__init__" for name in used}
        graph[module] = (used & sources.keys()) - {module}
    assert graph["dpsco_core.privacy.ledger"] >= {"dpsco_core.privacy.budget"}
    assert cycle(graph) == []


def test_a_circle_is_found() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c", "a"]
    assert cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_the_peers_do_not_allow_a_circle() -> None:
    graph: dict[str, set[str]] = {}
    for here, there in PEERS:
        graph.setdefault(here, set()).add(there)
    assert cycle(graph) == []


def undocumented(package: object) -> list[str]:
    """Return the names of `package.__all__` that are missing or have no docstring of their own."""
    faults = []
    for name in getattr(package, "__all__", ()):
        thing = getattr(package, name, None)
        if thing is None:
            faults.append(f"{package}: {name} does not exist")
        elif inspect.isclass(thing) or inspect.isfunction(thing):
            # A dataclass without a docstring gets its signature for one.
            text = thing.__doc__ or ""
            if not text.strip() or text.startswith(f"{name}("):
                faults.append(f"{package}: {name} has no docstring")
    return faults


def packages() -> list[str]:
    """Return dpsco_core, dpsco_app and their packages that can be imported."""
    names = []
    for top in ("dpsco_core", "dpsco_app"):
        if not (ROOT / top / "__init__.py").exists():
            continue
        package = importlib.import_module(top)
        names += [top]
        names += [m.name for m in pkgutil.walk_packages(package.__path__, f"{top}.") if m.ispkg]
    return names


@pytest.mark.parametrize("name", packages())
def test_everything_public_has_a_docstring(name: str) -> None:
    assert undocumented(importlib.import_module(name)) == []


def test_a_missing_docstring_is_found() -> None:
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Bare:
        x: int = 0

    def silent() -> None: ...

    class Package:
        __all__ = ("Absent", "Bare", "silent", "spoken")

        def spoken(self) -> None:
            """Say something."""

    Package.Bare = Bare
    Package.silent = staticmethod(silent)
    Bare.__doc__ = "Bare(x: int = 0)"
    faults = undocumented(Package)
    assert [fault.split(": ")[1].split()[0] for fault in faults] == ["Absent", "Bare", "silent"]
