"""The words of the page Methods, and formulas as a page can show them."""

import re

from dpsco_core.catalogue import METHOD_SLUGS, method_card

NOTIONS = {
    "none": "not private",
    "pure": "pure ε",
    "zcdp": "zCDP, (ε, δ)",
    "approx": "(ε, δ)",
}
GUIDE = """
1. **What do you estimate?** A plain mean: the mean estimators. Anything with a loss: an optimiser.
   If the loss has kinks (hinge, absolute), a proof that lets steps contract fails: phased SGD and
   objective perturbation step aside, and clipped gradients do not mind. If the risk is strongly
   convex, more methods are open, and all converge faster.
2. **What do you know about the data?** With nothing but a variance every private method must cut
   much away. The more moments exist, the smaller the radius that loses little. Where the slope of
   the loss is bounded (logistic, Huber, hinge, absolute) and records are, so are the gradients, and
   the classical methods for Lipschitz losses (noisy gradient descent, objective perturbation) need
   no cut at all. A radius is never read off the data: that would break the proof.
3. **Which budget?** Under pure ε only the Laplace estimator of the mean runs. Gaussian noise serves
   zCDP and (ε, δ). Objective perturbation and the user-level filters are proven for (ε, δ) alone.
4. **Which set holds the answer?** On an ℓ₂ ball noise costs the root of the dimension. On an ℓ₁
   ball or a simplex objective perturbation pays the set's Gaussian width in its place, about the
   root of the logarithm; mirror descent saves that in its sampling error only. Every method that
   projects gains something: the set cuts noise off. On a cube no norm helps.
5. **Whose data is it?** If a person gave many records, protect the person. Up to about a thousand
   records each (with 10,000 users at ε = 1), take clipped user gradients; beyond, filtered
   gradients need less noise. With a few hundred users only group privacy and clipped user gradients
   run.
"""


OPENING, CLOSING, GAPS = ("{", "(", "["), ("}", ")", "]"), (",\\quad", ",\\ ")


def family(slug: str) -> str:
    card = method_card(slug)
    if "mean" in card.problems:
        return "Mean estimators"
    if card.level == "user":
        return "User level"
    return "Optimisers" if card.geometry == "l2" else "Optimisers, other norms"


def method_label(slug: str) -> str:
    """Return how the selector names a method; the overview for none."""
    if not slug:
        return "Overview: which algorithm when"
    number = METHOD_SLUGS.index(slug) + 1
    return f"{number}. {method_card(slug).name} ({family(slug).lower()})"


def parts(latex: str) -> tuple[str, ...]:
    r"""Return a formula and the definitions behind it, split at commas outside all brackets.

    Examples
    --------
    >>> parts(r"\min(a,\ b),\ a=1,\quad b=2")
    ('\\min(a,\\ b)', 'a=1', 'b=2')
    """
    found, depth = [""], 0
    for token in re.split(r"(,\\quad|,\\ |[{(\[\])}])", latex):
        depth += (token in OPENING) - (token in CLOSING)
        if depth == 0 and token in GAPS:
            found.append("")
        else:
            found[-1] += token
    return tuple(part.strip() for part in found)


def formula(latex: str) -> str:
    """Return a formula as Markdown that breaks at operators; definitions follow in words."""
    first, *rest = parts(latex)
    text = rf"$\displaystyle {first}$"
    return text if not rest else f"{text}, with " + ", ".join(f"${part}$" for part in rest)


def in_table(latex: str) -> str:
    """Return the formula without its definitions, in a form that fits a cell of a table."""
    return f"${parts(latex)[0]}$".replace(r"\|", r"\Vert ").replace("|", r"\vert ")
