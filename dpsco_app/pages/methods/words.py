"""The words of the page Methods."""

from collections.abc import Iterable

from dpsco_core.catalogue import METHODS, method_card
from dpsco_core.explain.errata import Erratum

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
   no cut at all. A radius that is simply read off the data would break the proof. {chosen} choose
   it from the data privately, and pay for that with a part of the budget; all others fix it before
   they see a record.
3. **Which budget?** Under pure ε {pure} can run, because Gaussian noise cannot give it. Gaussian
   noise serves zCDP and (ε, δ). {approx} are proven for (ε, δ) alone.
4. **Which set holds the answer?** On an ℓ₂ ball noise costs the root of the dimension. On an ℓ₁
   ball or a simplex objective perturbation pays the set's Gaussian width in its place, about the
   root of the logarithm; mirror descent saves that in its sampling error only. Every method that
   projects gains something: the set cuts noise off. On a cube no norm helps.
5. **Whose data is it?** If a person gave many records, protect the person. {filters} test that the
   users agree, which lets them add less noise if users have many records each; the test must hide
   a user, and needs hundreds of users at ε = 1, or thousands where the paper's phases are kept.
   {any_users} run with any number of users.
6. **What is special about it?**
   - People with several records each, and a mean: {user_mean_adaptive}.
   - Coordinates of unequal scale, as most real data have: {mean_plan}.
   - A mean that may lie far from 0: {mean_adaptive}, which finds a centre first.
   - Data known to be symmetric, with a known covariance: {mean_coinpress}, which can have a smaller
     error than the sample mean.
   - How far off the answer may be: {mean_clipped}, {mean_cwme_cdp} and {user_mean_clipped} have a
     95 % interval that is proven. Methods that choose from the data have none.
   - A loss and a pure budget: {sco_pure_objective_perturbation} where there are few parameters,
     {sco_output_perturbation} otherwise.
   - Each record may be seen once: {sco_ftrl}, whose noise cancels from step to step.
   - One pass under (ε, δ): {sco_private_sgd_allocated}. Which step is a record's own is secret, and
     hides it better than a secret order does.
   - A model trained with DP-SGD, as in Opacus: {sco_dp_sgd}, with the same minibatches and the
     same noise. It clips each record's gradient at a fixed norm, as {sco_clipped} do on all
     records. {sco_automatic} and {sco_quantile} need no such norm; on
     skewed data both have an error that no number of records lowers.
"""


def guide() -> str:
    """Return how to choose a method; each paragraph lists the methods whose cards fit it."""
    private = [m.card for m in METHODS if m.card.privacy != "none"]
    users = [card for card in private if card.level == "user"]
    names_by_key = {
        card.slug.replace(".", "_").replace("-", "_"): f"**{card.name}**" for card in private
    }
    return GUIDE.format(
        **names_by_key,
        chosen=list_in_words(card.name for card in private if card.private_radius),
        pure=list_in_words(card.name for card in private if "pure" in card.budgets),
        approx=list_in_words(card.name for card in private if card.budgets == ("approx",)),
        filters=list_in_words(card.name for card in users if card.budgets == ("approx",)),
        any_users=list_in_words(card.name for card in users if card.budgets != ("approx",)),
    )


def list_in_words(names: Iterable[str]) -> str:
    """Return names as a list in a sentence, with the variants of a method named once.

    Examples
    --------
    >>> list_in_words(["Filtered SGD", "Filtered gradients", "Filtered gradients, smoothed"])
    '**Filtered SGD** and **Filtered gradients**'
    """
    all_names = list(names)
    shortened = [
        name for name in all_names if name.split(",")[0] not in all_names or "," not in name
    ]
    *initial, final = (f"**{name}**" for name in shortened)
    comma = ";" if any("," in name for name in shortened) else ","
    return f"{f'{comma} '.join(initial)} and {final}" if initial else final


def family(slug: str) -> str:
    """Return the title of the group of methods in which a method is listed."""
    card = method_card(slug)
    if card.level == "user":
        return "User level"
    if "mean" in card.problems:
        return "Mean estimators"
    return "Optimisers" if card.geometry == "l2" else "Optimisers, other norms"


def topic(entry: Erratum) -> str:
    """Return the topic of an erratum, in the words of its slug."""
    words = entry.slug.split(".")[1].replace("-", " ")
    return words[0].upper() + words[1:]
