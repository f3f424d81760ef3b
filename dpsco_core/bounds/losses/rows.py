"""Every lower bound that is proven with the loss of one problem, in the order of a catalogue.

A slug names the problem, then the instance (unless that hides the true parameter), then the
algorithms. Least squares has no such bound: if only moments of its features are bounded, a rare
record can make the risk arbitrarily large, and with bounded moments of the gradients the bound is
below that of the quadratic loss (theory/bounds-everywhere.md, 6.6).
"""

from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.losses.any_labels import ANY_LABELS_RISKS
from dpsco_core.bounds.losses.corner_labels import CORNER_RISKS
from dpsco_core.bounds.losses.hidden_parameter import HIDDEN_PARAMETER_RISKS
from dpsco_core.bounds.losses.median import MEDIAN_RISKS
from dpsco_core.bounds.losses.median_words import MEDIAN_WORD_RISKS

LOSS_RISKS: tuple[Bound, ...] = (
    *ANY_LABELS_RISKS,
    *HIDDEN_PARAMETER_RISKS,
    *CORNER_RISKS,
    *MEDIAN_RISKS,
    *MEDIAN_WORD_RISKS,
)
