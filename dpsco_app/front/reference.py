"""The sentences of the answer about its reference, the method that its factors are relative to.

The reference is the method without privacy that has run and that the price carries; this module
does not choose another one.
"""

from collections.abc import Sequence

from dpsco_app.front.changes import level_of
from dpsco_app.front.study import Study
from dpsco_app.parts.options import inside
from dpsco_core.catalogue import method_card, methods_for
from dpsco_core.fields import MEAN
from dpsco_core.methods.euclidean import Erm, Sgd
from dpsco_core.methods.mean import MedianOfMeans, SampleMean

# The weakness that explains how a non-private method can have the larger error. Noise by itself
# never reduces an error.
WEAKNESS = {
    SampleMean.card.slug: "clips nothing, so that a few far records move it",
    MedianOfMeans.card.slug: "is less accurate where no record is far out",
    Erm.card.slug: "clips nothing and fits every far record in full",
    Sgd.card.slug: "clips nothing, and takes a single pass",
}
ROBUST = {MEAN: MedianOfMeans.card.slug}  # the reference that heavy tails do not spoil, by problem


def reference_name(method: str) -> str:
    """Return the name of a price's reference, as part of a sentence; empty without one."""
    return inside(method_card(method).short or method_card(method).name) if method else ""


def with_article(method: str) -> str:
    """Return a reference as the object of a sentence: an acronym at the end takes no article."""
    name = reference_name(method)
    return name if name.split(" ")[-1].isupper() else f"the {name}"


def reference_words(methods: Sequence[str]) -> str:
    """Return the reference of each panel; empty for a panel without one."""
    names = [reference_name(method) for method in dict.fromkeys(methods) if method]
    if len(names) < 2:
        return f", against the non-private {names[0]}" if names else ""
    left, right = names
    return f", against the non-private {left} on the left and {right} on the right"


def why_less(study: Study, reference: str) -> str:
    """Return why an error is below that of the reference, and which comparison is fairer."""
    name = with_article(reference)
    weakness = WEAKNESS.get(reference, "could be improved without privacy, too")
    text = f" Privacy gains nothing here: {name} {weakness}."
    robust = ROBUST.get(study.scenario.problem, "")
    if robust and robust not in study.scenario.methods:
        text += f" Choose the {reference_name(robust)}, too, for a robust reference."
    return text


def without_reference(study: Study) -> str:
    """Return what to choose if no method without privacy has run."""
    scenario = study.scenario
    methods = methods_for(scenario.problem, level_of(scenario))
    public = [m for m in methods if method_card(m).privacy == "none"]
    names = " or ".join(with_article(m) for m in public if m not in scenario.methods)
    if names:
        return f"Choose {names}, too, to see what privacy costs."
    refused = (
        "Without privacy nothing can run here" if public else "Nothing without privacy is known"
    )
    return f"{refused}, so there is no price."
