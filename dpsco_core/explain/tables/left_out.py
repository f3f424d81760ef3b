"""The statements of the papers that have no row in any table, each with the reason."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A statement without a row."""

    table: str  # key of the table to which the statement would belong
    statement: str  # the statement and its place in the paper
    reason: str  # one sentence on why the statement is left out

    @property
    def line(self) -> str:
        """The statement and the reason why the table lacks it, as one line of text."""
        return f"{self.statement}: {self.reason}"


LEFT_OUT: tuple[LeftOut, ...] = (
    LeftOut(
        table="kamath",
        statement="Kamath, Liu and Zhang, Remark 5.3 (the naïve τ and its rate)",
        reason="It is printed for d = 1 only, n^(−(k−1)/(2k−1)) where Theorem 5.2 has "
        "n^(−(k−1)/k), "
        "to say which choice of τ the algorithm does not make.",
    ),
    LeftOut(
        table="kamath",
        statement="Kamath, Liu and Zhang, Theorem 4.1, first display (without privacy)",
        reason="It is the rate of the private estimator without its noise, at any τ: the terms "
        "“sampling” and “clipping bias” of the rows of Theorem 4.1, which are evaluated at the τ "
        "that suits the noise. Median of means has a row for the first of them, without clipping; "
        "no method here clips without privacy.",
    ),
    LeftOut(
        table="kamath",
        statement="Kamath, Liu and Zhang, running times O(ndT)",
        reason="They count arithmetic, T being the number of steps. At item level no quantity here "
        "counts gradients; a method's page has its order and its passes over the records.",
    ),
    LeftOut(
        table="su-1",
        statement="Su, Zhao and Wang, Table 1, the row of Amid et al. (2022)",
        reason="It needs public data, which no problem here has, and its formula, with "
        "√(n m_public^(1/4)) under a fraction, is garbled there.",
    ),
    LeftOut(
        table="arora",
        statement="Arora, Marinov and Ullah, section 6 (noisy SGD; Algorithm 1 of Feldman et al. "
        "with "
        "subsampling)",
        reason="The first is the empirical optimum of Bassily et al. (2014), which has a row as a "
        "risk; its number of gradients is not a risk. The second is said to be “possible”, with "
        "no statement.",
    ),
    LeftOut(
        table="arora",
        statement="Arora, Marinov and Ullah, numbers of gradients in sections 1, 3 and 6",
        reason="Bassily et al. (2019) take n⁵ and Feldman et al. (2020) n², on smooth losses "
        "min(n^(3/2), n^(5/2)/d) and n, and noisy SGD (nε)²/√d. They are for single records; the "
        "table of gradients is that of Lowy, Liu and Asi, for users with m items.",
    ),
    LeftOut(
        table="su-1",
        statement="Su, Zhao and Wang, Theorems 3 and 4, beyond squared distances",
        reason="The rows hold for strongly convex losses of records. The only such problem here is "
        "the squared distance, where Algorithm 2 is a noisy clipped mean; logistic losses with a "
        "ridge are no problem of the catalogue.",
    ),
    LeftOut(
        table="lowy",
        statement="Lowy, Liu and Asi, Algorithms 2 and 3 as printed",
        reason="Their batches have more users than a phase has at every number of users that is "
        "run "
        "here. The methods of that name run on all users at every step.",
    ),
)


def left_out(table: str) -> tuple[LeftOut, ...]:
    """Return the statements that a table leaves out; the table of all bounds has all of them."""
    return tuple(entry for entry in LEFT_OUT if table in (entry.table, "all"))
