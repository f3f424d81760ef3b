"""The sentence that a method or a bound shows at p < 2 if it needs a second moment."""

from dpsco_core.base.cards import Card


def second_moment_missing(subject: str, card: Card, moment_order: float) -> str:
    """Return a sentence that a method or a bound needs a second moment, or "" if it applies.

    `subject` names it in the sentence, and `moment_order` is the p of the records. It applies at
    p < 2 if its card says why in `infinite_variance`.
    """
    if moment_order >= 2 or card.infinite_variance:
        return ""
    return (
        f"The {subject} needs a second moment, and records with tail index p={moment_order:g} "
        "may have none."
    )
