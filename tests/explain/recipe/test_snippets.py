"""A code snippet has the numbers of its recipe, and exists only for mechanisms of the library."""

from __future__ import annotations

import ast
import builtins
import json
import sys
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dpsco_core.catalogue import METHOD_SLUGS, method_card
from dpsco_core.cli.main import main
from dpsco_core.explain.methods.stories import example_point
from dpsco_core.explain.recipe.recipe import recipe
from dpsco_core.explain.recipe.snippets import LIBRARIES, snippets
from dpsco_core.privacy.budget import gaussian_epsilon, zcdp_epsilon
from dpsco_core.scenario import Scenario

MEAN = Scenario(n=1000, d=3)
LOGISTIC = Scenario(problem="logistic", n=1000, d=3)


class Library(ModuleType):
    """A stand-in for a library that records every call; any of its names can be called or read."""

    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]]

    def __init__(self, name: str, calls: list[Any] | None = None) -> None:
        """Make an empty package that records the calls of its functions."""
        super().__init__(name)
        self.__path__ = []
        self.calls = [] if calls is None else calls

    def __getattr__(self, name: str) -> Library:
        """Return a stand-in for a name of this library, which records its calls in the
        same list.
        """
        if name.startswith("__"):
            raise AttributeError(name)
        return Library(f"{self.__name__}.{name}", self.calls)

    def __call__(self, *values: Any, **keywords: Any) -> Any:
        """Record a call, and return its name."""
        self.calls.append((self.__name__, values, keywords))
        return self.calls[-1][0]


@pytest.fixture
def opendp(monkeypatch: pytest.MonkeyPatch) -> Library:
    """Install a stand-in for OpenDP, which is no dependency; the code was run by hand with OpenDP
    0.16.
    """
    library = Library("opendp.prelude")
    package = ModuleType("opendp")
    package.prelude = library  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "opendp", package)
    monkeypatch.setitem(sys.modules, "opendp.prelude", library)
    return library


def test_the_code_for_opendp_has_the_noise_of_the_ledger(opendp: Library) -> None:
    result = recipe(MEAN, "mean.clipped")
    [release] = result.releases
    code = snippets(result)["opendp"]
    # The stand-in does not chain calls, so the space and the last two lines are left out.
    lines = code.splitlines()
    head = "\n".join(line.replace("space >> ", "") for line in lines[:-2])
    [drawn] = [line for line in lines if line.startswith("x = ")]
    head = head.replace(drawn, "x = np.full((n, d), 1e9)")
    names: dict[str, Any] = {}
    exec(head, names)
    assert names["clip_radius"] == release.length and names["n"] == 1000
    assert np.linalg.norm(names["total"]) == pytest.approx(1000 * release.length)
    calls = {name: named for name, _, named in opendp.calls}
    assert calls["opendp.prelude.m.then_gaussian"] == {"scale": release.on_sum}
    assert calls["opendp.prelude.l2_distance"] == {"T": float}
    rho = (2 * release.length) ** 2 / (2 * release.on_sum**2)
    assert f"a record: {rho:.6g}" in lines[-2] and rho == pytest.approx(MEAN.setting.gaussian_rho)


NUMPY_LAWS = ("student-t", "pareto", "skewed-pareto", "log-normal", "gaussian", "elliptical-t")


@pytest.mark.parametrize("slug", NUMPY_LAWS)
def test_the_code_for_opendp_draws_the_law_of_the_scenario(slug: str) -> None:
    """It drew Student t whatever the scenario asked for."""
    point = replace(MEAN, distribution=slug, offset=0.0)
    code = snippets(recipe(point, "mean.clipped"))["opendp"]
    [line] = [line for line in code.splitlines() if line.startswith("x = ")]
    names: dict[str, Any] = {"np": np, "rng": np.random.default_rng(1), "n": 400_000, "d": 2}
    exec(line, names)
    law = replace(point, d=2).instance.law
    records = law.sample(400_000, np.random.default_rng(2)).x
    levels = [0.05, 0.1, 0.3, 0.7, 0.9, 0.95]
    for read in (lambda x: x[:, 0], lambda x: np.linalg.norm(x, axis=1)):
        expected = np.quantile(read(records), levels)
        assert np.quantile(read(names["x"]), levels) == pytest.approx(expected, rel=0.03, abs=0.02)
    assert f"The scenario's law, {law.card.name}, at mean 0: put your records here" in code


@pytest.mark.parametrize("changes", [{"distribution": "spike"}, {"decay": 0.5}])
def test_a_law_without_a_line_of_numpy_has_a_stand_in_that_says_so(changes: dict[str, Any]) -> None:
    code = snippets(recipe(replace(MEAN, **changes), "mean.clipped"))["opendp"]
    assert "# Student t, a stand-in for the scenario's law, " in code


def test_the_code_for_opendp_says_which_epsilon_each_accountant_gives() -> None:
    """The conversion is the one of OpenDP, whose own test has this value at rho = 1/32."""
    assert zcdp_epsilon(1 / 32, 1e-3) == pytest.approx(0.6880024554878085, rel=1e-9)
    delta = 1e-6
    for point in (MEAN, replace(MEAN, epsilon=None, delta=None, rho=0.5)):
        rho = point.setting.gaussian_rho
        code = snippets(recipe(point, "mean.clipped"))["opendp"].replace("\n#", "")
        paper = rho + 2 * np.sqrt(rho * np.log(1 / delta))
        for words in (
            f"At delta = 1e-06 this rho is epsilon {paper:.4g} by rho + 2 sqrt(rho ln(1/delta))",
            f"{zcdp_epsilon(rho, delta):.4g} by OpenDP's conversion",
            f"and {gaussian_epsilon(rho, delta):.4g} here: by the exact curve of Gaussian noise",
        ):
            assert words in code


def test_the_code_for_opacus_has_the_multiplier_the_norm_and_no_sampling() -> None:
    result = recipe(LOGISTIC, "sco.clipped")
    [release] = result.releases
    code = snippets(result)["opacus"]
    calls = [n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Call)]
    [call] = [n for n in calls if ast.unparse(n.func) == "engine.make_private"]
    values = {k.arg: ast.unparse(k.value) for k in call.keywords if k.arg not in TRAINED}
    assert values == {
        "noise_multiplier": "noise_multiplier",
        "max_grad_norm": "max_grad_norm",
        "poisson_sampling": "False",
    }
    numbers = assigned_numbers(code)
    assert numbers["noise_multiplier"] == release.noise_multiplier
    assert numbers["max_grad_norm"] == result.clips["clip_radius"]
    assert numbers["batch_size"] == 1000
    assert {k.arg for k in call.keywords} == MAKE_PRIVATE
    assert repr(release.add_remove_multiplier) in code
    assert f"steps, averaged = 1000, 3, {result.steps}, {result.averaged}" in code


def assigned_numbers(code: str) -> dict[str, Any]:
    """Return the constants that a script assigns, by the names of the variables."""
    assigned = [n for n in ast.walk(ast.parse(code)) if isinstance(n, ast.Assign)]
    return {
        ast.unparse(node.targets[0]): ast.literal_eval(node.value)
        for node in assigned
        if isinstance(node.value, ast.Constant)
    }


def test_the_code_for_opacus_names_batch_size_and_epochs() -> None:
    result = recipe(LOGISTIC, "sco.dp-sgd")
    code = snippets(result)["opacus"]
    comment = " ".join(code.replace("\n#", "").split())
    assert f"another epsilon than the {result.point.budget} of replacing a record is expected" in (
        comment
    )
    assert assigned_numbers(code)["batch_size"] == result.batch == 100
    epochs = (result.steps or 0) * 100 / 1000
    assert result.epochs == epochs > 1 and result.to_dict()["epochs"] == epochs
    assert f"epochs = steps * batch_size / n  # {epochs:.4g} passes over the records" in code
    # A step on all records is an epoch.
    whole = recipe(LOGISTIC, "sco.clipped")
    assert whole.epochs == whole.steps


TRAINED = {"module", "optimizer", "data_loader"}
# The arguments of `PrivacyEngine.make_private` in Opacus 1.6 that a script names.
MAKE_PRIVATE = TRAINED | {"noise_multiplier", "max_grad_norm", "poisson_sampling"}


@pytest.mark.parametrize("problem", ["logistic", "quadratic"])
@pytest.mark.parametrize("slug", ["sco.clipped", "sco.dp-sgd"])
@pytest.mark.parametrize("library", ["opacus", "jax_privacy"])
def test_a_script_is_complete(library: str, slug: str, problem: str) -> None:
    """Every name is imported, assigned or built in before it is read, so the script runs as
    printed.
    """
    point = Scenario(problem=problem, n=1000, d=3)
    code = snippets(recipe(point, slug)).get(library)
    if code is None:
        assert (library, slug) == ("jax_privacy", "sco.dp-sgd")
        return
    check_names(code)
    assert "pip install" in code and "put your" in code
    assert f"radius = {point.diameter / 2!r}" in code or f", {point.diameter / 2!r}  #" in code


def check_names(code: str) -> None:
    """Check that a script reads no name that it does not define."""
    compile(code, "script", "exec")
    tree = ast.parse(code)
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name)]
    bound = {n.id for n in names if isinstance(n.ctx, ast.Store)} | set(dir(builtins))
    bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    bound |= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    assert {n.id for n in names} <= bound


def test_a_method_on_a_set_without_projection_in_the_library_has_no_script() -> None:
    cube = recipe(Scenario(problem="quadratic", n=1000, d=3, geometry="linf"), "sco.clipped")
    assert not {"opacus", "jax_privacy"} & snippets(cube).keys()


def test_the_code_for_jax_privacy_has_the_noise_and_the_steps() -> None:
    result = recipe(LOGISTIC, "sco.clipped")
    [release] = result.releases
    code = snippets(result)["jax_privacy"]
    ast.parse(code)
    assert f"l2_clip_norm={release.length!r}" in code
    assert f"noise = {release.over_sensitivity!r}" in code
    assert f"n, d, steps, averaged = {release.batch}, 3, {result.steps}, " in code
    assert f"size, radius = {result.step_size!r}" in code


PRIVATE = [slug for slug in METHOD_SLUGS if method_card(slug).privacy != "none"]


@pytest.mark.parametrize("slug", PRIVATE)
def test_code_exists_only_for_equal_gaussian_noise_on_clipped_records(slug: str) -> None:
    """No library has gradients that are normalised, filtered, shuffled or adaptively clipped."""
    point = example_point(slug)
    small = replace(point, n=min(point.n, 5000), d=min(point.d, 10))
    result = recipe(small, slug)
    codes = snippets(result)
    assert codes.keys() <= set(LIBRARIES)
    if codes.keys() - {"dpsco_core"}:
        [release] = result.releases
        sampled = ("poisson gaussian", "sums of clipped gradients, each over a Poisson sample")
        whole = ("gaussian", "mean of clipped records")
        assert (release.mechanism, release.label) in (whole, sampled)
        in_code = f"poisson_sampling={release.mechanism == 'poisson gaussian'}"
        assert "opacus" not in codes or in_code in codes["opacus"]
        assert release.length == result.clips["clip_radius"] and not result.is_radius_private
    for code in codes.values():
        ast.parse(code)
        assert max(map(len, code.splitlines())) <= 100


@pytest.mark.parametrize("slug", PRIVATE)
def test_the_code_for_own_arrays_runs_and_spends_the_budget(
    slug: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every method on records that runs on a Euclidean ball has such code."""
    card = method_card(slug)
    point = example_point(slug)
    small = replace(point, n=min(point.n, 2000), d=min(point.d, 3))
    result = recipe(small, slug)
    code = snippets(result).get("dpsco_core")
    assert (code is None) == (
        card.level == "user" or small.m > 1 or small.geometry != "l2" or bool(result.refusal)
    )
    if code is None:
        return
    check_names(code)
    names: dict[str, Any] = {}
    exec(code, names)
    answer = names["answer"]
    assert answer.method == slug and answer.value.shape == (small.d,)
    assert answer.spent == result.spent
    assert answer.warning in capsys.readouterr().out


def test_a_private_radius_has_code_for_own_arrays() -> None:
    """No other library chooses a radius by private releases."""
    assert snippets(recipe(MEAN, "mean.adaptive")).keys() == {"dpsco_core"}


def test_the_command_prints_only_the_code(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["about", "mean.clipped", "--n", "1000", "--d", "3"]
    assert main([*flags, "--library", "opendp"]) == 0
    code = capsys.readouterr().out
    assert code == snippets(recipe(MEAN, "mean.clipped"))["opendp"] + "\n"
    assert main([*flags, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["recipe"]["code"]["opendp"] + "\n" == code
    for words, message in (
        (
            [*flags, "--library", "opacus"],
            "library must be opendp or dpsco_core for mean.clipped, got library=",
        ),
        (
            [*flags, "--library", "spam"],
            "library must be one of opacus, opendp, jax_privacy, dpsco_core, got",
        ),
        (["about", "sco.erm", "--library", "opacus"], "library must be left out for sco.erm: "),
    ):
        assert main(words) == 2
        assert message in capsys.readouterr().err
