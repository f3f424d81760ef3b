"""The rules of the house, each shown to catch a deliberate fault.

A rule is a function of a module's name and its source that returns what is wrong with it, in
sentences. It runs over every file of the tree, and over snippets that break it.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dpsco_core.catalogue import BOUND_SLUGS, METHOD_SLUGS
from dpsco_core.scenario import Scenario

ROOT = Path(__file__).resolve().parents[1]

Rule = Callable[[str, str], list[str]]

# Imports point to a lower level only, and packages of one level do not import each other.
LEVEL = {
    "base": 0,
    "geometry": 1,
    "privacy": 2,
    "data": 3,
    "problems": 4,
    "statements": 4,
    "methods": 5,
    "bounds": 6,
    "words": 6,
    "catalogue": 7,
    "plugins": 8,
    "fields": 8,
    "scenario": 9,
    "runs": 10,
    "audit": 11,
    "results": 11,
    "explain": 12,
    "referee": 12,
    "": 13,  # The root package dpsco_core has the public names.
    "cli": 14,
}
# These imports point up, each for its reason.
UPWARD_IMPORTS = {
    # The version is imported, since the workers of a cluster must have the same one.
    ("dpsco_core.runs.dask_cluster", "dpsco_core.__version__"),
}

DRAWS = {name for name in dir(np.random.Generator) if name[0] != "_"} - {"bit_generator", "spawn"}
DRAWS.add("rvs")
# Only these modules draw: data and problems draw data, and one file draws noise for privacy.
MAY_DRAW = ("dpsco_core.data", "dpsco_core.problems", "dpsco_core.privacy.mechanisms.noise")
# These draws are neither data nor noise, each for its reason.
OTHER_DRAWS = {
    # These are secret random orders and samples of records, users and groups.
    ("dpsco_core.methods.euclidean.private_sgd", "permutation"),
    ("dpsco_core.methods.euclidean.private_sgd", "geometric"),
    ("dpsco_core.methods.access", "permutation"),
    ("dpsco_core.methods.access", "integers"),
    ("dpsco_core.methods.access", "random"),
    ("dpsco_core.methods.records.groups", "shuffle"),
    ("dpsco_core.methods.records.groups", "integers"),
    ("dpsco_core.methods.user.accelerated.run", "choice"),
    # These are the signs of a random rotation, which are public.
    ("dpsco_core.methods.mean.instance_optimal", "integers"),
    # These are directions of a search after the release, which is post-processing.
    ("dpsco_core.methods.records.directions", "standard_normal"),
    # These are points of a ball over which a loss is averaged, and which belong to the loss.
    ("dpsco_core.methods.user.accelerated.smoothing", "standard_normal"),
    ("dpsco_core.methods.user.accelerated.smoothing", "random"),
    ("dpsco_core.methods.user.accelerated.smoothing", "beta"),
    # A secret choice of records of each user, and a secret order of users.
    ("dpsco_core.results.release.users", "permutation"),
    # A plan with a public range draws records, and an audit those beside the changed record.
    ("dpsco_core.results.release.planned", "uniform"),
    ("dpsco_core.audit.neighbours", "standard_normal"),
    ("dpsco_core.audit.neighbours", "standard_cauchy"),
    # The machine's speed is measured on these numbers.
    ("dpsco_core.runs.cost", "standard_normal"),
    # The page Geometry estimates a width by these random directions, without data.
    ("dpsco_core.explain.geometry.mean_widths", "standard_normal"),
    # This is the random number of a private choice, which the visitor can draw again.
    ("dpsco_core.explain.picture", "random"),
    # These are the data of experiments, and bootstrap samples of their results.
    ("dpsco_core.explain.lessons", "integers"),
    ("dpsco_core.explain.fano.by_hand", "integers"),
    ("dpsco_core.explain.tracing", "random"),
    ("dpsco_core.explain.need.search", "integers"),
    ("dpsco_core.explain.users.crossing", "integers"),
}
# These searches never choose a candidate whose value is not finite, each for its reason.
OTHER_SEARCHES = {
    # This search takes the fewest steps among candidates whose predicted risk is finite.
    ("dpsco_core.methods.tune", "min"),
    # The bound is valid at every value of the parameter, and infinite where it is void.
    ("dpsco_core.bounds.instances.fano", "minimize_scalar"),
    ("dpsco_core.bounds.euclidean.uniform", "minimize_scalar"),
    ("dpsco_core.bounds.mean.coordinatewise", "minimize_scalar"),
    ("dpsco_core.bounds.mean.iterative", "minimize_scalar"),
    ("dpsco_core.privacy.budget", "minimize_scalar"),
    ("dpsco_core.privacy.losses", "minimize_scalar"),
    # This search is made at each number of steps; the module `search` compares the results.
    ("dpsco_core.bounds.lq.regularized", "minimize_scalar"),
    # These searches are over numbers that are always finite: moments on an interval, distances, an
    # example's rows.
    ("dpsco_core.problems.laws", "argmin"),
    ("dpsco_core.problems.laws", "minimize_scalar"),
    ("dpsco_core.geometry.sparse", "minimize_scalar"),
    ("dpsco_core.explain.errata.su_runs", "min"),
}

SLUGS = {*METHOD_SLUGS, *BOUND_SLUGS}
# A pattern over slugs begins like this, in a regular expression or in a call such as startswith.
FAMILY = re.compile(r"(^|[\^(|])(mean|sco|lp|user|upper|lower)[|()\w]*\\?\.")
BY_PATTERN = ("startswith", "endswith", "removeprefix", "removesuffix", "fnmatch", "fnmatchcase")
# These methods of a text take a slug apart.
OF_A_SLUG = (*BY_PATTERN[:4], "split", "rsplit", "partition", "rpartition")
BY_EXPRESSION = ("compile", "match", "fullmatch", "search", "findall", "finditer", "sub", "split")
# The largest number of files in a folder, and at the top of each of the two packages.
MOST_FILES, MOST_AT_THE_TOP = 25, 20
# Two classes share each of these names, and no name may be added.
SHARED_NAMES = ("View",)


@cache
def parsed(source: str) -> ast.Module:
    """Return the tree of a module, parsed once for all rules."""
    return ast.parse(source)


@cache
def nodes(source: str) -> tuple[ast.AST, ...]:
    """Return the nodes of a module, walked once for all rules."""
    return tuple(ast.walk(parsed(source)))


def imported(module: str, source: str) -> Iterator[tuple[str, int]]:
    """Yield every module that `source` imports, anywhere in it, with its line."""
    for node in nodes(source):
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
    package, _, rest = module.partition(".")
    name = rest.partition(".")[0]
    if package != "dpsco_core":
        return None
    return "" if name == "__init__" else name


def target(name: str) -> str:
    """Return the module that an imported name is in, where `name` may be a public object."""
    path = ROOT.joinpath(*name.split("."))
    is_module = path.is_dir() or path.with_suffix(".py").exists() or name.count(".") == 0
    is_level = component(name) in LEVEL and name.count(".") == 1
    return name if is_module or is_level else name.rpartition(".")[0]


def imports_point_down(module: str, source: str) -> list[str]:
    """Return the imports of a module of dpsco_core that do not go to a lower level, except
    `UPWARD_IMPORTS`.
    """
    own_component = component(module)
    if own_component is None:
        return []
    if own_component not in LEVEL:
        return [f"{module}: {own_component} has no level; add it to LEVEL"]
    faults = []
    for name, line in imported(module, source):
        target_component = component(target(name))
        if target_component is None or target_component == own_component:
            continue
        is_downward = target_component in LEVEL and LEVEL[target_component] < LEVEL[own_component]
        if not is_downward and (module, name) not in UPWARD_IMPORTS:
            faults.append(f"{module}:{line} imports {name}, which is not below it")
    return faults


def a_scenario_knows_methods_by_slug(module: str, source: str) -> list[str]:
    """Return what scenario.py imports of methods beyond the words (Calibration, Tuning) of a
    package's base.
    """
    if module != "dpsco_core.scenario":
        return []
    return [
        f"{module}:{line} imports {name}"
        for name, line in imported(module, source)
        if component(name) in {"methods", "bounds"} and "base" not in name.split(".")
    ]


def core_is_free_of_the_dashboard(module: str, source: str) -> list[str]:
    """Return the imports of Streamlit, Plotly or dpsco_app in a module of dpsco_core."""
    if not module.startswith("dpsco_core"):
        return []
    forbidden = {"streamlit", "plotly", "altair", "dpsco_app", "app"}
    return [
        f"{module}:{line} imports {name}"
        for name, line in imported(module, source)
        if name.split(".")[0] in forbidden
    ]


def app_has_no_mathematics(module: str, source: str) -> list[str]:
    """Return where a module of dpsco_app draws random numbers or uses scipy."""
    if module.split(".")[0] not in ("dpsco_app", "app"):
        return []
    faults = []
    for name, line in imported(module, source):
        if name.split(".")[0] in ("scipy", "random") or name.startswith("numpy.random"):
            faults.append(f"{module}:{line} imports {name}")
    for node in nodes(source):
        if (
            isinstance(node, ast.Attribute)
            and node.attr == "random"
            and isinstance(node.value, ast.Name)
            and node.value.id in ("np", "numpy")
        ):
            faults.append(f"{module}:{node.lineno} uses numpy.random")
    return faults


def noise_is_drawn_in_mechanisms_only(module: str, source: str) -> list[str]:
    """Return the random draws of a module outside data, problems and privacy/mechanisms/noise.py,
    except `OTHER_DRAWS`.
    """
    if module.startswith(MAY_DRAW):
        return []
    faults = []
    for node in nodes(source):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        name = node.func.attr
        if name in DRAWS and (module, name) not in OTHER_DRAWS:
            faults.append(f"{module}:{node.lineno} calls .{name}()")
    return faults


def wrong_ledgers_stay_in_the_audits(module: str, source: str) -> list[str]:
    """Return the imports of ledgers whose noise is wrong on purpose, which only
    dpsco_core.audit.engine may see.
    """
    doubles = "dpsco_core.audit.doubles"
    if module in ("dpsco_core.audit.engine", doubles):
        return []
    return [
        f"{module}:{line} imports {name}"
        for name, line in imported(module, source)
        if name.startswith(doubles)
    ]


def searches_pass_over_what_is_not_finite(module: str, source: str) -> list[str]:
    """Return where a module of dpsco_core finds the smallest of candidates other than by
    dpsco_core.base.search.
    """
    if not module.startswith("dpsco_core.") or module == "dpsco_core.base.search":
        return []
    faults = []
    for node in nodes(source):
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


# Modules that run a user's file, and report any error that it raises in one sentence.
OTHERS_CODE = ("dpsco_core.plugins.extend", "dpsco_core.base.plugin_guard")


def no_error_is_silenced(module: str, source: str) -> list[str]:
    """Return the handlers of a module that catch every error, which would also catch a page's
    StopException.
    """
    faults = []
    for node in nodes(source):
        if not isinstance(node, ast.ExceptHandler):
            continue
        caught = [node.type] if not isinstance(node.type, ast.Tuple) else node.type.elts
        names = {ast.unparse(kind).split(".")[-1] if kind else "" for kind in caught}
        if names & {"", "Exception", "BaseException"} and module not in OTHERS_CODE:
            faults.append(f"{module}:{node.lineno} catches everything")
    return faults


def a_vector_is_defined_once(module: str, source: str) -> list[str]:
    """Return where a module defines a type of arrays of real numbers, other than base.arrays."""
    if module == "dpsco_core.base.arrays":
        return []
    return [
        f"{module}:{node.lineno} defines Vector"
        for node in parsed(source).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "Vector"
    ]


def a_module_says_what_it_is(module: str, source: str) -> list[str]:
    """Return a fault if a module has no docstring."""
    return [] if ast.get_docstring(parsed(source)) else [f"{module} has no docstring"]


def tables_of_slugs(module: str, source: str) -> list[str]:
    """Return the tables and patterns over slugs of methods or bounds in a module.

    A table is a dictionary with two slugs or more among its keys, a `match` over slugs, or a
    collection of them that something is looked up in. What a scenario asks for (a preset, a lesson,
    an example) is a collection of slugs too, and none is looked up in it. A pattern is also what
    looks for a word in a slug, takes one apart, or makes many slugs of words. That a slug begins
    with what the card says (``slug.startswith(f"{card.kind}.")``) is no pattern.
    """
    faults, table_names = [], set()
    for node in nodes(source):
        if isinstance(node, ast.Assign | ast.AnnAssign) and _slugs(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            table_names |= {t.id for t in targets if isinstance(t, ast.Name)}
    for node in nodes(source):
        kind = ""
        if isinstance(node, ast.Dict) and sum(map(_is_slug, node.keys)) > 1:
            kind = "a dictionary keyed by slugs"
        elif isinstance(node, ast.Match):
            patterns = [case.pattern for case in node.cases]
            if any(_is_slug(part) for pattern in patterns for part in ast.walk(pattern)):
                kind = "a match over slugs"
        elif isinstance(node, ast.Compare):
            is_look_up = any(isinstance(op, ast.In | ast.NotIn) for op in node.ops)
            listed = any(_slugs(x) or getattr(x, "id", "") in table_names for x in node.comparators)
            kind = "a look-up among slugs" if is_look_up and listed else ""
            kind = kind or ("a word looked for in a slug" if _in_a_slug(node) else "")
        elif isinstance(node, ast.Call) and (_is_pattern(node) or _takes_apart(node)):
            kind = "a pattern over slugs"
        elif isinstance(node, ast.SetComp | ast.DictComp) and _makes_slugs(node):
            kind = "slugs made of words"
        if kind:
            faults.append(f"{module}:{node.lineno} has {kind}")
    return faults


def _is_slug(node: ast.AST | None) -> bool:
    """Return whether a node is a slug of the catalogue."""
    return isinstance(node, ast.Constant) and node.value in SLUGS


def _slugs(node: ast.AST | None) -> bool:
    """Whether a node is a literal collection of two slugs or more, also as `frozenset({...})`."""
    if isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    return isinstance(node, ast.Tuple | ast.List | ast.Set) and sum(map(_is_slug, node.elts)) > 1


def _is_pattern(call: ast.Call) -> bool:
    """Return whether a call matches a text with a family of slugs."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name not in (*BY_PATTERN, *BY_EXPRESSION):
        return False
    arguments = [x for a in call.args for x in (a.elts if isinstance(a, ast.Tuple) else [a])]
    texts = [a.value for a in arguments if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    return any(FAMILY.search(text) for text in texts)


def _names_a_slug(node: ast.AST) -> bool:
    """Return whether a node is a name or an attribute called `slug`."""
    return (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")) == "slug"


def _in_a_slug(node: ast.Compare) -> bool:
    """Whether a word is looked for in a slug; a blank does not count as a word."""
    word = node.left.value if isinstance(node.left, ast.Constant) else "any"
    parts = zip(node.ops, node.comparators, strict=True)
    is_look_up = any(isinstance(op, ast.In | ast.NotIn) and _names_a_slug(x) for op, x in parts)
    return is_look_up and bool(str(word).strip())


def _takes_apart(call: ast.Call) -> bool:
    """Whether a slug is compared with fixed words, or taken apart."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr not in OF_A_SLUG:
        return False
    arguments = [x for a in call.args for x in (a.elts if isinstance(a, ast.Tuple) else [a])]
    return _names_a_slug(function.value) and any(isinstance(a, ast.Constant) for a in arguments)


def _makes_slugs(node: ast.SetComp | ast.DictComp) -> bool:
    """Whether many slugs are made of a fixed beginning: ``{f"lower.mean.{w}" for w in words}``."""
    element = node.elt if isinstance(node, ast.SetComp) else node.key
    start = element.values[0] if isinstance(element, ast.JoinedStr) else None
    return isinstance(start, ast.Constant) and bool(FAMILY.search(str(start.value)))


# These modules make a name of another slug, each for its reason.
MAY_TAKE_APART = {
    # The slug of this risk contains that of the bound on means.
    "dpsco_core.bounds.euclidean.one_step",
    # The slug of this risk also contains that of the bound on means.
    "dpsco_core.bounds.euclidean.projected",
    "dpsco_core.bounds.lq.explicit",  # The slugs of two variants contain that of the bound.
    "dpsco_app.pages.methods.words",  # The slug of an erratum names its subject.
}


def a_method_knows_its_own_facts(module: str, source: str) -> list[str]:
    """Return the tables keyed by slugs, and the patterns over slugs, of a module other than
    catalogue.py.
    """
    if module == "dpsco_core.catalogue":
        return []
    allowed = "a pattern over slugs" if module in MAY_TAKE_APART else "nothing"
    return [fault for fault in tables_of_slugs(module, source) if not fault.endswith(allowed)]


# Tests and benchmarks still have this many tables and patterns over slugs, by file: values that
# papers print, second implementations, golden numbers, what one lesson shows, how a slug begins or
# ends. Each is about what it names. A list of what is of some kind is not: that is asked of the
# method or the bound. The counts only shrink.
TABLES_OF_TESTS = {
    "benchmarks/__main__.py": 1,
    "tests/app/places/test_bounds.py": 1,
    "tests/app/places/test_lessons.py": 6,
    "tests/app/places/test_methods.py": 2,
    "tests/bounds/euclidean/test_rates.py": 4,
    "tests/bounds/euclidean/test_rows.py": 4,
    "tests/bounds/euclidean/test_runs.py": 1,
    "tests/bounds/test_lower_bounds_bind.py": 2,
    "tests/bounds/test_mean_bounds.py": 1,
    "tests/bounds/test_oracles.py": 1,
    "tests/bounds/test_upper_hold.py": 2,
    "tests/explain/test_errata.py": 1,
    "tests/explain/test_errata_ranges.py": 1,
    "tests/explain/test_story_proofs.py": 1,
    "tests/methods/test_geometry_matrix.py": 1,
    "tests/runs/test_streaming.py": 1,
    "tests/runs/test_study.py": 1,
    "tests/trust/independent.py": 4,
    "tests/trust/test_hostile.py": 1,
    "tests/trust/test_theory.py": 1,
    "tests/trust/theory.py": 2,
}


def test_no_test_or_benchmark_classifies_methods_or_bounds_by_their_slugs() -> None:
    counts = {
        str(path.relative_to(ROOT)): len(tables_of_slugs(path.stem, path.read_text("utf-8")))
        for path in sorted([*ROOT.glob("tests/**/*.py"), *ROOT.glob("benchmarks/*.py")])
    }
    remaining = {path: count for path, count in counts.items() if count}
    assert remaining == TABLES_OF_TESTS, "ask the method or the bound what it is"


def a_block_of_parameters_holds_nothing_else(module: str, source: str) -> list[str]:
    """Return the docstrings in which the block of parameters holds anything but entries, for `make
    docs` takes it for one.
    """
    faults = []
    for node in nodes(source):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            continue
        _, _, block = (ast.get_docstring(node) or "").partition("Parameters\n----------\n")
        block = re.split(r"\n\w+\n---+\n", block)[0]
        entries = [line for line in block.splitlines() if line[:1].strip()]
        strange = [line for line in entries if not re.match(r"[\w, *]+( : .*|$)", line)]
        faults += [f"{module}: {node.name}: {line}" for line in strange]
    return faults


def an_example_has_its_heading(module: str, source: str) -> list[str]:
    """Return the docstrings with an example that has no heading, where `make docs` reads brackets
    as links.
    """
    faults = []
    for node in nodes(source):
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            continue
        text = ast.get_docstring(node) or ""
        if ">>> " in text and "Examples\n--------\n" not in text.partition(">>> ")[0]:
            name = getattr(node, "name", "its docstring")
            faults.append(f"{module}: {name} has an example without the heading Examples")
    return faults


def a_row_begins_as_a_card(module: str, source: str) -> list[str]:
    """Return where a module of bounds takes more of another bound than its card, by
    `bound_like`.
    """
    if not module.startswith("dpsco_core.bounds.") or module == "dpsco_core.bounds.base":
        return []
    return [
        f"{module}:{node.lineno} makes a row of another one; use bound_like"
        for node in nodes(source)
        if isinstance(node, ast.Call)
        for word in node.keywords
        if word.arg == "card"
        and "replace" in (ast.unparse(node.func), ast.unparse(word.value).split("(")[0])
    ]


def a_refusal_names_fields(module: str, source: str) -> list[str]:
    """Return the refusals of a module that offer a change of anything but a field of a scenario or
    the method.
    """
    keywords = {"reason", "otherwise", "nearest", "changes", "method"}
    keywords |= {field.name for field in fields(Scenario)}
    return [
        f"{module}: {word.arg}"
        for node in nodes(source)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "NotApplicable"
        for word in node.keywords
        if word.arg is not None and word.arg not in keywords
    ]


RULES: tuple[Rule, ...] = (
    imports_point_down,
    a_scenario_knows_methods_by_slug,
    core_is_free_of_the_dashboard,
    app_has_no_mathematics,
    noise_is_drawn_in_mechanisms_only,
    wrong_ledgers_stay_in_the_audits,
    searches_pass_over_what_is_not_finite,
    no_error_is_silenced,
    a_method_knows_its_own_facts,
    a_vector_is_defined_once,
    a_module_says_what_it_is,
    a_block_of_parameters_holds_nothing_else,
    an_example_has_its_heading,
    a_row_begins_as_a_card,
    a_refusal_names_fields,
)


def modules() -> dict[str, str]:
    """Return the source of every module of the two packages and of app.py, by dotted name."""
    files = [*ROOT.glob("dpsco_core/**/*.py"), *ROOT.glob("dpsco_app/**/*.py"), ROOT / "app.py"]
    sources = {}
    for path in sorted(p for p in files if p.exists()):
        parts = path.relative_to(ROOT).with_suffix("").parts
        # The name of a package keeps its `__init__`, so that its relative imports resolve as those
        # of its modules do.
        sources[".".join(parts)] = path.read_text(encoding="utf-8")
    return sources


@pytest.mark.parametrize(
    "rule", RULES, ids=lambda rule: rule.__name__
)  # One process parses the tree, and only once.
def test_no_file_of_the_tree_breaks_the_rule(rule: Rule) -> None:
    sources = modules()
    assert "dpsco_core.privacy.ledger" in sources
    faults = [fault for module, source in sources.items() for fault in rule(module, source)]
    assert not faults, "\n".join(faults)


WRONG = [
    (
        a_refusal_names_fields,
        "dpsco_core.methods.refusals",
        'NotApplicable("No.", tunning="paper")',
    ),
    (
        a_block_of_parameters_holds_nothing_else,
        "dpsco_core.privacy.ledger",
        'def f():\n    """X.\n\n    Parameters\n    ----------\n    a : int\n\n    Raises `E`."""',
    ),
    (
        an_example_has_its_heading,
        "dpsco_core.privacy.ledger",
        'def f():\n    """X.\n\n    >>> f()\n    """',
    ),
    (
        imports_point_down,
        "dpsco_core.privacy.ledger",
        "from dpsco_core.methods.records import base",
    ),
    (imports_point_down, "dpsco_core.privacy.ledger", "import dpsco_core.runs.study"),
    (imports_point_down, "dpsco_core.privacy.ledger", "from ..data import rows"),
    (imports_point_down, "dpsco_core.privacy.__init__", "from ..data.rows import Rows"),
    (imports_point_down, "dpsco_core.geometry.norms", "from dpsco_core.privacy import Ledger"),
    (imports_point_down, "dpsco_core.data.rows", "from dpsco_core import problems"),
    (
        imports_point_down,
        "dpsco_core.methods.records.base",
        "from dpsco_core.bounds.base import Bound",
    ),
    (imports_point_down, "dpsco_core.methods.records.base", "from dpsco_core import Ledger"),
    (imports_point_down, "dpsco_core.scenario", "from dpsco_core.runs.study import study"),
    (imports_point_down, "dpsco_core.catalogue", "from dpsco_core import scenario"),
    (imports_point_down, "dpsco_core.runs.study", "from dpsco_core.cli.main import main"),
    (
        a_scenario_knows_methods_by_slug,
        "dpsco_core.scenario",
        "from dpsco_core.methods.mean import A",
    ),
    (
        a_scenario_knows_methods_by_slug,
        "dpsco_core.scenario",
        "import dpsco_core.methods.mean.clipped",
    ),
    (imports_point_down, "dpsco_core.base.errors", "from dpsco_core.geometry.norms import norm"),
    (imports_point_down, "dpsco_core.audit.engine", "from dpsco_core.results import tables"),
    (imports_point_down, "dpsco_core.methods.mean.clipped", "from dpsco_core.bounds import Bound"),
    (imports_point_down, "dpsco_core.catalogue", "def f():\n    import dpsco_core.runs.study"),
    (imports_point_down, "dpsco_core.novelty", "import math"),
    (core_is_free_of_the_dashboard, "dpsco_core.runs.study", "import streamlit as st"),
    (core_is_free_of_the_dashboard, "dpsco_core.runs.study", "from plotly import graph_objects"),
    (
        core_is_free_of_the_dashboard,
        "dpsco_core.cli.main",
        "def f():\n    import dpsco_app.parts.charts",
    ),
    (app_has_no_mathematics, "dpsco_app.parts.charts", "from scipy.stats import norm"),
    (
        app_has_no_mathematics,
        "dpsco_app.parts.charts",
        "import numpy as np\nnp.random.default_rng()",
    ),
    (app_has_no_mathematics, "dpsco_app.parts.charts", "from numpy import random"),
    (app_has_no_mathematics, "app", "from numpy.random import default_rng"),
    (
        noise_is_drawn_in_mechanisms_only,
        "dpsco_core.methods.mean.clipped",
        "x = rng.normal(size=3)",
    ),
    (
        noise_is_drawn_in_mechanisms_only,
        "dpsco_core.methods.mean.clipped",
        "rng.standard_normal(3)",
    ),
    (noise_is_drawn_in_mechanisms_only, "dpsco_core.privacy.ledger", "rng.laplace(scale=2)"),
    (noise_is_drawn_in_mechanisms_only, "dpsco_core.privacy.ledger", "-np.log(rng.random(9))"),
    (noise_is_drawn_in_mechanisms_only, "dpsco_core.methods.records.directions", "rng.normal(3)"),
    (noise_is_drawn_in_mechanisms_only, "dpsco_app.runs.running", "norm.rvs(3)"),
    (
        wrong_ledgers_stay_in_the_audits,
        "dpsco_core.methods.mean.clipped",
        "from dpsco_core.audit.doubles import WrongNoise",
    ),
    (
        wrong_ledgers_stay_in_the_audits,
        "dpsco_app.pages.privacy.page",
        "from dpsco_core.audit import doubles",
    ),
    (
        searches_pass_over_what_is_not_finite,
        "dpsco_core.methods.euclidean.tuning",
        "min(found, key=risk)",
    ),
    (
        searches_pass_over_what_is_not_finite,
        "dpsco_core.methods.euclidean.tuning",
        "i = risks.argmin()",
    ),
    (
        searches_pass_over_what_is_not_finite,
        "dpsco_core.methods.mean.clipped",
        "np.nanargmin(risks)",
    ),
    (
        searches_pass_over_what_is_not_finite,
        "dpsco_core.methods.mean.clipped",
        "minimize_scalar(f)",
    ),
    (no_error_is_silenced, "dpsco_core.runs.study", "try:\n    f()\nexcept Exception:\n    pass"),
    (no_error_is_silenced, "dpsco_core.runs.study", "try:\n    f()\nexcept:\n    pass"),
    (no_error_is_silenced, "app", "try:\n    f()\nexcept (ValueError, BaseException):\n    pass"),
    (no_error_is_silenced, "app", "try:\n    f()\nexcept builtins.Exception as e:\n    pass"),
    *(
        (a_method_knows_its_own_facts, "dpsco_core.runs.study", source)
        for source in (
            'COST = {"mean.clipped": 1, "mean.smoothed": 2}',
            'def f():\n    return {"lower.mean.fano-cdp": 1, "sco.erm": 2}.get(slug, 0)',
            'x = slug in ("mean.clipped", "sco.clipped")',
            'SOME = frozenset({"mean.clipped", "sco.clipped"})\nx = slug not in SOME',
            'SOME: tuple[str, ...] = ("mean.clipped", "sco.clipped")\nx = slug in SOME',
            'match slug:\n    case "mean.clipped":\n        x = 1',
            'x = slug.startswith("user.")',
            'x = slug.startswith(("sco.", "lp."))',
            're.compile(r"lower\\.[a-z-]+\\.(fano|hypercube)")',
            're.match(r"^(upper|lower)\\.mean", slug)',
            'x = slug.removeprefix("mean.")',
            'x = "strong" in card.slug',
            "x = word not in slug",
            'x = slug.endswith("-strong")',
            'x = card.slug.startswith(("prior-", f"{kind}."))',
            'x = SIDES[bound.card.slug.split(".")[2]]',
            'x = {f"lower.mean.{name}" for name in names} == slugs',
            'x = {f"upper.mean.cwme-{name}": f for name in names}',
        )
    ),
    (a_vector_is_defined_once, "dpsco_core.runs.study", "Vector = NDArray[np.float64]"),
    (a_module_says_what_it_is, "dpsco_core.runs.study", "x = 1"),
    (a_row_begins_as_a_card, "dpsco_core.bounds.mean.runs", "replace(row, card=card, evaluate=f)"),
    (a_row_begins_as_a_card, "dpsco_core.bounds.mean.runs", "Bound(card=replace(card, slug='a'))"),
]

RIGHT = [
    (
        an_example_has_its_heading,
        "dpsco_core.privacy.ledger",
        'def f():\n    """X.\n\n    Examples\n    --------\n    >>> f()\n    """',
    ),
    (a_refusal_names_fields, "dpsco_core.methods.user", 'NotApplicable("No.", tuning="paper")'),
    (a_row_begins_as_a_card, "dpsco_core.bounds.mean.runs", "bound_like(row.card, evaluate=f)"),
    (
        a_block_of_parameters_holds_nothing_else,
        "dpsco_core.privacy.ledger",
        'def f():\n    """X.\n\n    Parameters\n    ----------\n    a, b : int\n        c.\n\n'
        '    Examples\n    --------\n    >>> f()\n    """',
    ),
    (
        imports_point_down,
        "dpsco_core.methods.records.base",
        "from dpsco_core.privacy import Ledger",
    ),
    (
        imports_point_down,
        "dpsco_core.methods.euclidean.cwme",
        "from dpsco_core.methods.records import base",
    ),
    (imports_point_down, "dpsco_core.privacy.__init__", "from .ledger import Ledger"),
    (imports_point_down, "dpsco_core.cli.main", "from dpsco_core import study, catalogue"),
    (imports_point_down, "dpsco_core.scenario", "from dpsco_core import catalogue"),
    (
        a_scenario_knows_methods_by_slug,
        "dpsco_core.scenario",
        "from dpsco_core.methods.records.base import X",
    ),
    (imports_point_down, "dpsco_core.__init__", "from dpsco_core.results.tables import frame"),
    (imports_point_down, "dpsco_core.cli.main", "from dpsco_core import __version__"),
    (imports_point_down, "dpsco_app.runs.running", "from dpsco_core.runs.study import study"),
    (app_has_no_mathematics, "dpsco_app.parts.charts", "import numpy as np\nnp.log10(2.0)"),
    (app_has_no_mathematics, "dpsco_core.data.rows", "from scipy.stats import norm"),
    (noise_is_drawn_in_mechanisms_only, "dpsco_core.data.laws", "rng.standard_t(3)"),
    (
        noise_is_drawn_in_mechanisms_only,
        "dpsco_core.privacy.mechanisms.noise",
        "rng.laplace(scale=2)",
    ),
    (
        noise_is_drawn_in_mechanisms_only,
        "dpsco_core.methods.records.directions",
        "rng.standard_normal(3)",
    ),
    (noise_is_drawn_in_mechanisms_only, "dpsco_core.methods.access", "rng.permutation(3)"),
    (
        noise_is_drawn_in_mechanisms_only,
        "dpsco_core.methods.mean.clipped",
        "# rng.normal()\n'.normal('",
    ),
    (
        wrong_ledgers_stay_in_the_audits,
        "dpsco_core.audit.engine",
        "from dpsco_core.audit.doubles import WrongNoise",
    ),
    (
        wrong_ledgers_stay_in_the_audits,
        "dpsco_core.runs.study",
        "from dpsco_core.privacy import Ledger",
    ),
    (searches_pass_over_what_is_not_finite, "dpsco_core.methods.euclidean.tuning", "min(1, 2)"),
    (
        searches_pass_over_what_is_not_finite,
        "dpsco_core.methods.euclidean.tuning",
        "smallest(a, f, of='step')",
    ),
    (no_error_is_silenced, "app", "try:\n    f()\nexcept ValueError:\n    pass"),
    *(
        (a_method_knows_its_own_facts, "dpsco_core.runs.study", source)
        for source in (
            'card = MethodCard(slug="mean.clipped", name="Simple clipping")',
            'PRESET = Scenario(methods=("mean.clipped", "mean.smoothed"))',
            'NAMED = {"clipped": "mean.clipped", "smooth": "mean.smoothed"}',
            'x = slug in METHOD_SLUGS\ny = slug == "mean.clipped"',
            'x = card.slug.startswith(f"{card.kind}.{area}.")\ny = " " in card.slug',
            'x = ROWS[f"upper.lp.{name}"]\ny = {f"slug {name}" for name in names}',
            'x = line.startswith("def ")\nre.compile(r"mean of \\d+")',
        )
    ),
    (
        a_method_knows_its_own_facts,
        "dpsco_core.catalogue",
        'COST = {"mean.clipped": 1, "mean.smoothed": 2}',
    ),
    (a_vector_is_defined_once, "dpsco_core.base.arrays", "Vector = NDArray[np.float64]"),
    (a_module_says_what_it_is, "dpsco_core.runs.study", '"""A study."""'),
]


@pytest.mark.parametrize(("rule", "module", "source"), WRONG)
def test_the_rule_catches_a_fault(rule: Rule, module: str, source: str) -> None:
    assert rule(module, source)


@pytest.mark.parametrize(("rule", "module", "source"), RIGHT)
def test_the_rule_accepts_sound_code(rule: Rule, module: str, source: str) -> None:
    assert not rule(module, source)


def repeated_classes(sources: dict[str, str]) -> dict[str, list[str]]:
    """Return the names that several classes have, with the modules of each."""
    places: dict[str, list[str]] = {}
    for module, source in sources.items():
        for node in nodes(source):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(module)
    return {name: where for name, where in places.items() if len(where) > 1}


def test_no_two_classes_have_one_name() -> None:
    shared = repeated_classes(modules())
    assert {name: where for name, where in shared.items() if name not in SHARED_NAMES} == {}
    assert shared.keys() >= set(SHARED_NAMES), "an exception that is not needed"


def test_two_classes_of_one_name_are_found() -> None:
    sources = {"a": "class Plan: ...", "b": "def f():\n    class Plan: ...", "c": "class Run: ..."}
    assert repeated_classes(sources) == {"Plan": ["a", "b"]}


def crowded(files: list[str]) -> list[str]:
    """Return the folders with too many entries, which are modules or folders of modules."""
    entries = {tuple(f.split("/")[:k]) for f in files for k in range(2, f.count("/") + 2)}
    counts = Counter("/".join(entry[:-1]) for entry in entries)
    tops = ("dpsco_core", "dpsco_app")
    limits = {folder: MOST_AT_THE_TOP if folder in tops else MOST_FILES for folder in counts}
    return [folder for folder in sorted(counts) if counts[folder] > limits[folder]]


def test_no_folder_is_crowded() -> None:
    files = [p.relative_to(ROOT).as_posix() for p in ROOT.glob("dpsco_*/**/*.py")]
    assert crowded(files) == []


def test_a_crowded_folder_is_found() -> None:
    inner = [f"dpsco_core/runs/a{i}.py" for i in range(MOST_FILES + 1)]
    top = [f"dpsco_app/a{i}.py" for i in range(MOST_AT_THE_TOP)]
    assert crowded([*inner, *top]) == ["dpsco_core/runs"]
    assert crowded([*inner[1:], *top, "dpsco_app/pages/page.py"]) == ["dpsco_app"]


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """Return one cycle of a directed graph as a path, or nothing."""
    visited: set[str] = set()

    def visit(node: str, path: list[str]) -> list[str]:
        """Return a cycle that is reached from a node, or nothing."""
        if node in path:
            return [*path[path.index(node) :], node]
        if node in visited:
            return []
        for successor in sorted(graph.get(node, ())):
            if path_back := visit(successor, [*path, node]):
                return path_back
        visited.add(node)
        return []

    return next((path_back for node in sorted(graph) if (path_back := visit(node, []))), [])


def packages_of(module: str) -> set[str]:
    """Return the `__init__` of every package that a module is in, which are imported before it."""
    parts = module.split(".")
    return {".".join((*parts[:depth], "__init__")) for depth in range(1, len(parts))}


def import_graph(sources: dict[str, str]) -> dict[str, set[str]]:
    """Return what each module imports, with the packages that are imported on the way."""
    graph = {}
    for module, source in sources.items():
        imports = {target(name) for name, _ in imported(module, source)}
        packages = {package for name in imports for package in packages_of(name)}
        imports |= {f"{name}.__init__" for name in imports}
        imports |= packages - packages_of(module)
        graph[module] = (imports & sources.keys()) - {module}
    return graph


def test_every_module_can_be_imported_first() -> None:
    graph = import_graph(modules())
    assert graph["dpsco_core.privacy.ledger"] >= {"dpsco_core.privacy.budget"}
    assert cycle(graph) == []


def test_a_cycle_of_imports_through_a_package_is_found() -> None:
    sources = {
        "dpsco_core.a": "from dpsco_core.b.c import x",
        "dpsco_core.b.__init__": "from dpsco_core.b.d import y",
        "dpsco_core.b.c": "",
        "dpsco_core.b.d": "from dpsco_core.a import z",
    }
    assert cycle(import_graph(sources))
    assert cycle(import_graph(sources | {"dpsco_core.b.__init__": ""})) == []


def test_a_cycle_of_imports_is_found() -> None:
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c", "a"]
    assert cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


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
    class Undocumented:
        x: int = 0

    def silent() -> None: ...

    class Package:
        __all__ = ("Absent", "Bare", "silent", "spoken")

        def spoken(self) -> None:
            """Say something."""

    Package.Bare = Undocumented
    Package.silent = staticmethod(silent)
    Undocumented.__doc__ = "Bare(x: int = 0)"
    faults = undocumented(Package)
    assert [fault.split(": ")[1].split()[0] for fault in faults] == ["Absent", "Bare", "silent"]
