r"""The rates of mean estimation that several statements share, with hidden constants set to 1.

They are those of Kamath et al. (2022), Corollary 4.2 and Lemma 6.3, with moments scaled to 1. Upper
rates are not capped by the error of the trivial answer 0.
"""

from dpsco_core.bounds import letters
from dpsco_core.bounds.rate import two_terms

CDP = two_terms("sqrt(d/n)", "sqrt(d)*(sqrt(d)/(sqrt(rho)*n))^(1-1/p)")
PURE = two_terms("sqrt(d/n)", "sqrt(d)*(d/(epsilon*n))^(1-1/p)", letters=(letters.PURE,))
