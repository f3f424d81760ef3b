"""The words of the front figure: titles of panels, columns and axes, and numbers."""

import math
from collections.abc import Mapping, Sequence

from dpsco_app.front.study import Role, Study, compared
from dpsco_app.parts.evaluations import missing_window, region, window
from dpsco_app.parts.fields import text
from dpsco_app.parts.options import SYMBOL, inside, number_text
from dpsco_app.parts.problem_words import geometry_name
from dpsco_core.catalogue import LINEAR_MODELS, distribution_card, problem_card
from dpsco_core.explain.hardest import is_hard
from dpsco_core.explain.window import Missing
from dpsco_core.fields import MEAN, TABLE, is_linear
from dpsco_core.scenario import Scenario

NO_BREAK = "\N{NO-BREAK SPACE}"
PRICE_AXIS = "Price of privacy: error over the error without privacy"
WINDOW_WORDS = (
    "<b>The band</b>: the best",
    "promise for all data.",
    "These may be easier.",
)
TINY_WORDS = ("<b>≈ 0</b> is drawn at the lower edge:", "far below what this axis shows.")
ZERO_WORDS = ("<b>0</b> is drawn at the lower edge:", "a log axis has no place for it.")
# The words that replace the window, by the reason why no window is drawn.
WINDOW_LACKS: Mapping[Missing, tuple[str, ...]] = {
    "lower bound on the set": ("<b>No band here</b>: no lower bound", "is proven on this set."),
    "l2 ball": ("<b>No band here</b>: it is known", "in the ℓ₂ ball only."),
    "lower bound for the loss": (
        "<b>No band here</b>: no lower bound",
        "holds at these settings.",
    ),
    "lower bound for items alike": (
        "<b>No band here</b>: no lower bound is",
        "proven where a user’s items are alike.",
    ),
    "upper bound": ("<b>No band here</b>: no upper bound", "is proven for all such losses."),
    "room between the bounds": (
        "<b>No band here</b>: nobody can promise",
        "less than an answer without data.",
    ),
}
WINDOW_NOTE = "it holds the best promise for all data with this tail"


def panel_title(study: Study, studies: Sequence[Study]) -> str:
    """Return the title of a panel: its data, and for optimisation also the loss and the set."""
    scenario = study.scenario
    law = distribution_card(scenario.distribution).name
    if study.role == "hardest":
        loss = inside(problem_card(scenario.problem).name)
        suffix = ", same tail" if scenario.problem == MEAN else f": {loss}"
        return f"The hardest data known{suffix}"
    if compared(studies) == "tail":
        tail = "Heavy" if scenario.p < 4 else "Light"
        return f"{tail} tail, p = {number_text(scenario.p)}: {law} {data_word(scenario)}"
    data = f"{law} {data_word(scenario)}"
    if scenario.problem != MEAN:
        data = f"{problem_card(scenario.problem).name}, {data}"
    if scenario.geometry != "l2" or compared(studies) == "set":
        data += f", {geometry_name(scenario.geometry, scenario.q)}".replace("_q", "<sub>q</sub>")
    return data + (", pinned" if study.role == "pin" else "")


def panel_about(study: Study) -> str:
    """Return the line below the title of a panel with the hardest data; "" for other panels."""
    if study.role != "hardest":
        return ""
    if study.scenario.problem != MEAN:
        return "same tail"
    name = SYMBOL[study.scenario.axis or "n"]
    return f"made anew for each {name}: a few records far out carry the mean"


def column_name(study: Study, studies: Sequence[Study]) -> str:
    """Return the name of a study's column in the table of lines."""
    if study.role == "hardest":
        return "hardest"
    scenario, difference = study.scenario, compared(studies)
    if difference == "tail":
        return f"p = {number_text(scenario.p)}"
    if difference == "set":
        of_q = scenario.geometry == "lq"
        return f"q = {number_text(scenario.q or 0)}" if of_q else geometry_name(scenario.geometry)
    if study.role == "pin":
        return "pinned"
    return distribution_card(study.scenario.distribution).name.split(" (")[0]


def panel_names(scenario: Scenario, second_scenario: Scenario | None, role: Role) -> dict[str, str]:
    """Return the labels of the switch between both panels, the first, and the second.

    A panel that is shown alone keeps the name that it has beside the other.
    """
    pair = [
        Study(scenario=scenario),
        *([] if second_scenario is None else [Study(scenario=second_scenario, role=role)]),
    ]
    first_name, *rest = (_short(column_name(study, pair)) for study in pair)
    return {
        "both": "Side by side",
        "first": first_name,
        "second": rest[0] if rest else "Hardest data",
    }


def _short(name: str) -> str:
    """Return a column's name as a title, with a capital letter."""
    if name == "hardest":
        return "Hardest data"
    return name if "=" in name else name[:1].upper() + name[1:]


def axis_title(scenario: Scenario) -> str:
    """Return the label of the field that the axis sweeps; empty without an axis."""
    return "" if scenario.axis is None else text(TABLE[scenario.axis].label, scenario)


def drag_words(axis: str) -> str:
    """Return the words that follow the name of an axis whose dot can be dragged."""
    return f"drag the dot; {'the vertical axis is' if is_linear(axis) else 'both axes'} logarithmic"


def no_window(scenario: Scenario) -> tuple[str, ...]:
    """Return lines of words on why the figure has no window; empty if it has one."""
    if unequal(scenario):
        return (
            "<b>No band here</b>: the bounds are worst cases",
            "over coordinates of equal scale.",
        )
    spans = window(scenario)
    if any(s.lower and s.lower.card.instance_problem != scenario.problem for _, s in spans):
        return ("<b>No band for this loss</b>: bounds", "are proven with other losses.")
    if spans and is_hard(scenario) and not region(scenario):
        return ("<b>No band here</b>: no lower bound", "is proven on these data.")
    lack = None if spans else missing_window(scenario)
    return () if lack is None else WINDOW_LACKS[lack]


def unequal(scenario: Scenario) -> bool:
    """Return whether coordinates' scales differ, so that worst cases over equal ones say little."""
    return scenario.decay > 0 or scenario.axis == "decay"


def data_word(scenario: Scenario) -> str:
    """Return the noun for the law: data, or features for a linear model."""
    return "features" if scenario.problem in LINEAR_MODELS else "data"


def formula_names(formulas: Sequence[str]) -> list[str]:
    """Return a name for each formula of the visitor: numbered only if there are several."""
    has_several = len(formulas) > 1
    return [
        f"Your formula {i + 1}" if has_several else "Your formula" for i in range(len(formulas))
    ]


def at_point(scenario: Scenario, x: float | None) -> str:
    """Return the words for point x of the axis, such as ", n = 1,000"; empty without an axis."""
    return "" if x is None else f", {SYMBOL[str(scenario.axis)]} = {number_text(x)}"


def settings_text(scenario: Scenario, x: float | None) -> str:
    """Return the settings of an answer in words: n, m, d and the budget.

    Examples
    --------
    >>> settings_text(Scenario(), None).replace(NO_BREAK, " ")
    'n = 10,000, d = 20, ε = 1'
    """
    point = scenario.at(x)
    budget = "epsilon" if point.rho is None else "rho"
    names = ["n", *(["m"] if point.level == "user" else []), "d", budget]
    texts = [f"{SYMBOL[name]} = {number_text(getattr(point, name))}" for name in names]
    return ", ".join(text.replace(" ", NO_BREAK) for text in texts)


def ratio_text(value: float) -> str:
    """Return a factor with two figures, and without decimals from ten on; never as 0.0.

    Examples
    --------
    >>> [ratio_text(value) for value in (0.023, 1.26, 73.4, 2e6, math.inf)]
    ['0.02', '1.3', '73', '> 10⁶', '∞']
    """
    if value > 1e6:
        return "∞" if math.isinf(value) else "> 10⁶"
    if 0 < value < 0.095:
        return f"{value:.2f}" if value >= 0.005 else "< 0.01"
    return f"{value:.1f}" if value < 9.95 else f"{float(f'{value:.2g}'):,.0f}"
