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
# The reference that heavy tails do not spoil, by problem.
ROBUST = {MEAN: MedianOfMeans.card.slug}


def reference_name(method: str) -> str:
    """Return the name of a price's reference, as part of a sentence; empty without one."""
    return inside(method_card(method).short or method_card(method).name) if method else ""


def with_article(method: str) -> str:
    """Return the name of a method with "the", which a name that ends in an acronym does without."""
    name = reference_name(method)
    return name if name.split(" ")[-1].isupper() else f"the {name}"


def reference_words(methods: Sequence[str]) -> str:
    """Return the words "against ..." for the references of one or two panels; empty without any."""
    names = [reference_name(method) for method in dict.fromkeys(methods) if method]
    if len(names) < 2:
        return f", against the non-private {names[0]}" if names else ""
    left, right = names
    return f", against the non-private {left} on the left and {right} on the right"


def why_less(study: Study, reference: str) -> str:
    """Return sentences on why a private error is below that of a reference without privacy.

    They also suggest a more robust reference, unless it runs already.
    """
    name = with_article(reference)
    weakness = WEAKNESS.get(reference, "could be improved without privacy, too")
    text = f" Privacy gains nothing here: {name} {weakness}."
    robust = ROBUST.get(study.scenario.problem, "")
    if robust and robust not in study.scenario.methods:
        text += f" Choose the {reference_name(robust)}, too, for a robust reference."
    return text


def without_reference(study: Study) -> str:
    """Return the sentence on which method to choose, so that there is a price, if any can run."""
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
