"""The cards of the catalogue: what every entry says about itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from dpsco_core.base.law_classes import BOUNDED, COORDINATE, LawClass
from dpsco_core.base.loss_classes import MEAN, LossClass

Privacy = Literal["none", "pure", "zcdp", "approx"]
Level = Literal["item", "user"]
Quantity = Literal["l2 error", "squared l2 error", "excess risk", "item gradients"]
# For each privacy notion of a method, the notions whose lower bounds apply to the method. A zCDP
# method counts as an (epsilon, delta) algorithm only under an (epsilon, delta) budget, so lower
# bounds for that notion are applied to it only there.
BINDING: Mapping[Privacy, tuple[Privacy, ...]] = {
    "none": ("none",),
    "pure": ("none", "approx", "zcdp", "pure"),
    "zcdp": ("none", "approx", "zcdp"),
    "approx": ("none", "approx"),
}


Guarantee = Literal["expectation", "probability 0.9", "probability 0.95"]
Printing = Literal["", "printed", "reworked"]
# The kinds of proof of a lower bound.
Proof = Literal[
    "",
    "fano by distance",
    "fano by packing",
    "fano over words",
    "two-sided information",
    "hypercube",
    "rate distortion",
    "packing",
    "assouad",
    "tracing",
    "hidden signs",
    "hidden corner",
    "shifts",
    "sampling",
]


@dataclass(frozen=True)
class Paper:
    """A paper; its key is the short form of its citation."""

    key: str
    title: str
    authors: str
    year: int  # the year of publication, which may be later than the year in the key
    venue: str
    doi: str = ""

    def __str__(self) -> str:
        """Return the paper's key."""
        return self.key


def _make_paper(key: str, title: str, authors: str, venue: str) -> Paper:
    """Return a paper that was published in the year at the end of its key."""
    return Paper(key, title, authors, int(key[-4:]), venue)


KAMATH_2022 = _make_paper(
    "Kamath-Liu-Zhang 2022",
    "Improved Rates for Differentially Private Stochastic Convex Optimization "
    "with Heavy-Tailed Data",
    "Gautam Kamath, Xingtu Liu, Huanyu Zhang",
    "ICML 2022",
)
# The key has the year of the preprint.
ZHAO_2024 = Paper(
    "Zhao et al. 2024",
    "Differential Private Stochastic Optimization with Heavy-tailed Data: Towards Optimal Rates",
    "Puning Zhao, Jiafei Wu, Zhe Liu, Chong Wang, Rongfei Fan, Qingming Li",
    2025,
    "AAAI 2025",
    "10.1609/aaai.v39i21.34440",
)
FOLKLORE = Paper("Classical", "Textbook results without privacy", "", 0, "")
OWN = Paper("DP-SCO Explorer", "The mathematics of this library", "", 2026, "docs/theory")
HUANG_2021 = _make_paper(
    "Huang-Liang-Yi 2021",
    "Instance-optimal Mean Estimation Under Differential Privacy",
    "Ziyue Huang, Yuting Liang, Ke Yi",
    "NeurIPS 2021",
)
BISWAS_2020 = _make_paper(
    "Biswas et al. 2020",
    "CoinPress: Practical Private Mean and Covariance Estimation",
    "Sourav Biswas, Yihe Dong, Gautam Kamath, Jonathan Ullman",
    "NeurIPS 2020",
)
KAMATH_SINGHAL_ULLMAN_2020 = _make_paper(
    "Kamath-Singhal-Ullman 2020",
    "Private Mean Estimation of Heavy-Tailed Distributions",
    "Gautam Kamath, Vikrant Singhal, Jonathan Ullman",
    "COLT 2020",
)
ARORA_2020 = _make_paper(
    "Arora-Marinov-Ullah 2020",
    "Private Stochastic Convex Optimization: Efficient Algorithms for Non-smooth Objectives",
    "Raman Arora, Teodor V. Marinov, Enayat Ullah",
    "arXiv 2002.09609",
)
SU_2023 = _make_paper(
    "Su-Zhao-Wang 2023",
    "Differentially Private Stochastic Convex Optimization in (Non)-Euclidean Space Revisited",
    "Jinyan Su, Changhong Zhao, Di Wang",
    "UAI 2023",
)
WANG_2020 = _make_paper(
    "Wang et al. 2020",
    "On Differentially Private Stochastic Convex Optimization with Heavy-tailed Data",
    "Di Wang, Hanshen Xiao, Srinivas Devadas, Jinhui Xu",
    "ICML 2020",
)
BASSILY_2014 = _make_paper(
    "Bassily-Smith-Thakurta 2014",
    "Private Empirical Risk Minimization: Efficient Algorithms and Tight Error Bounds",
    "Raef Bassily, Adam Smith, Abhradeep Thakurta",
    "FOCS 2014",
)
BASSILY_2019 = _make_paper(
    "Bassily et al. 2019",
    "Private Stochastic Convex Optimization with Optimal Rates",
    "Raef Bassily, Vitaly Feldman, Kunal Talwar, Abhradeep Thakurta",
    "NeurIPS 2019",
)
BASSILY_2021 = _make_paper(
    "Bassily-Guzman-Nandi 2021",
    "Non-Euclidean Differentially Private Stochastic Convex Optimization",
    "Raef Bassily, Cristobal Guzman, Anupama Nandi",
    "COLT 2021",
)
FELDMAN_2020 = _make_paper(
    "Feldman-Koren-Talwar 2020",
    "Private Stochastic Convex Optimization: Optimal Rates in Linear Time",
    "Vitaly Feldman, Tomer Koren, Kunal Talwar",
    "STOC 2020",
)
KAIROUZ_2021 = _make_paper(
    "Kairouz et al. 2021",
    "Practical and Private (Deep) Learning without Sampling or Shuffling",
    "Peter Kairouz, Brendan McMahan, Shuang Song, Om Thakkar, Abhradeep Thakurta, Zheng Xu",
    "ICML 2021",
)
ANDREW_2021 = _make_paper(
    "Andrew et al. 2021",
    "Differentially Private Learning with Adaptive Clipping",
    "Galen Andrew, Om Thakkar, Brendan McMahan, Swaroop Ramaswamy",
    "NeurIPS 2021",
)
BU_2023 = _make_paper(
    "Bu et al. 2023",
    "Automatic Clipping: Differentially Private Deep Learning Made Easier and Stronger",
    "Zhiqi Bu, Yu-Xiang Wang, Sheng Zha, George Karypis",
    "NeurIPS 2023",
)
ABADI_2016 = _make_paper(
    "Abadi et al. 2016",
    "Deep Learning with Differential Privacy",
    "Martín Abadi, Andy Chu, Ian Goodfellow, H. Brendan McMahan, Ilya Mironov, Kunal Talwar, "
    "Li Zhang",
    "CCS 2016",
)
FELDMAN_SHENFELD_2025 = _make_paper(
    "Feldman-Shenfeld 2025",
    "Privacy Amplification by Random Allocation",
    "Vitaly Feldman, Moshe Shenfeld",
    "arXiv 2502.08202",
)
TALWAR_2014 = _make_paper(
    "Talwar-Thakurta-Zhang 2014",
    "Private Empirical Risk Minimization Beyond the Worst Case: The Effect of the "
    "Constraint Set Geometry",
    "Kunal Talwar, Abhradeep Thakurta, Li Zhang",
    "arXiv 1411.5417",
)
KASIVISWANATHAN_2016 = _make_paper(
    "Kasiviswanathan-Jin 2016",
    "Efficient Private Empirical Risk Minimization for High-dimensional Learning",
    "Shiva Prasad Kasiviswanathan, Hongxia Jin",
    "ICML 2016",
)
CHAUDHURI_2011 = _make_paper(
    "Chaudhuri-Monteleoni-Sarwate 2011",
    "Differentially Private Empirical Risk Minimization",
    "Kamalika Chaudhuri, Claire Monteleoni, Anand D. Sarwate",
    "JMLR 2011",
)
LOWY_2024 = _make_paper(
    "Lowy-Liu-Asi 2024",
    "Faster Algorithms for User-Level Private Stochastic Convex Optimization",
    "Andrew Lowy, Daogao Liu, Hilal Asi",
    "NeurIPS 2024",
)
LEVY_2021 = _make_paper(
    "Levy et al. 2021",
    "Learning with User-Level Privacy",
    "Daniel Levy, Ziteng Sun, Kareem Amin, Satyen Kale, Alex Kulesza, Mehryar Mohri, "
    "Ananda Theertha Suresh",
    "NeurIPS 2021",
)
BASSILY_SUN_2023 = _make_paper(
    "Bassily-Sun 2023",
    "User-level Private Stochastic Convex Optimization with Optimal Rates",
    "Raef Bassily, Ziteng Sun",
    "ICML 2023",
)
GHAZI_2023 = _make_paper(
    "Ghazi et al. 2023",
    "On User-Level Private Convex Optimization",
    "Badih Ghazi, Pritish Kamath, Ravi Kumar, Pasin Manurangsi, Raghu Meka, Chiyuan Zhang",
    "ICML 2023",
)
ASI_LIU_2024 = _make_paper(
    "Asi-Liu 2024",
    "User-level Differentially Private Stochastic Convex Optimization: Efficient Algorithms "
    "with Optimal Rates",
    "Hilal Asi, Daogao Liu",
    "AISTATS 2024",
)
AGARWAL_2024 = _make_paper(
    "Agarwal et al. 2024",
    "Private Mean Estimation with Person-Level Differential Privacy",
    "Sushant Agarwal, Gautam Kamath, Mahbod Majid, Argyris Mouzakis, Rose Silver, Jonathan Ullman",
    "SODA 2025",
)
LOWY_2026 = _make_paper(
    "Lowy 2026",
    "Optimal Rates for Pure ε-Differentially Private Stochastic Convex Optimization with Heavy "
    "Tails",
    "Andrew Lowy",
    "arXiv 2604.06492",
)
KIFER_2012 = _make_paper(
    "Kifer-Smith-Thakurta 2012",
    "Private Convex Empirical Risk Minimization and High-dimensional Regression",
    "Daniel Kifer, Adam Smith, Abhradeep Thakurta",
    "COLT 2012",
)
AUMUELLER_2024 = _make_paper(
    "Aumüller et al. 2024",
    "PLAN: Variance-Aware Private Mean Estimation",
    "Martin Aumüller, Christian Janos Lebeda, Boel Nelson, Rasmus Pagh",
    "PoPETs 2024(3)",
)
ASI_LIU_TIAN_2024 = _make_paper(
    "Asi-Liu-Tian 2024",
    "Private Stochastic Convex Optimization with Heavy Tails: Near-Optimality from Simple "
    "Reductions",
    "Hilal Asi, Daogao Liu, Kevin Tian",
    "NeurIPS 2024",
)
# The key has the year of the first conference version.
LOWY_RAZAVIYAYN_2023 = Paper(
    "Lowy-Razaviyayn 2023",
    "Private Stochastic Optimization with Large Worst-Case Lipschitz Parameter",
    "Andrew Lowy, Meisam Razaviyayn",
    2025,
    "Journal of Privacy and Confidentiality",
)
ACHARYA_2021 = _make_paper(
    "Acharya-Sun-Zhang 2021",
    "Differentially Private Assouad, Fano, and Le Cam",
    "Jayadev Acharya, Ziteng Sun, Huanyu Zhang",
    "ALT 2021",
)

# The problems whose losses become Lipschitz, with a closed form or a curvature, once records are
# shrunk to a bounded length.
BOUNDED_PROBLEMS = ("quadratic", "linear", "logistic", "huber", "hinge", "absolute")


@dataclass(frozen=True, kw_only=True)
class Card:
    """The catalogue's entry for a distribution, and the base of the other cards."""

    slug: str  # the fixed name in scenarios, URLs and on the command line
    name: str  # the name that readers see
    paper: Paper  # the paper that the entry comes from
    statement: str  # the number of the statement in that paper, such as `"Algorithm 2, Theorem 2"`
    summary: str  # one sentence for a reader who does not know the paper
    # The reason why a bound holds, or a method runs, at tail indices p below 2, where records may
    # lack a variance. If empty, the entry needs a second moment and refuses such p.
    infinite_variance: str = ""


@dataclass(frozen=True, kw_only=True)
class ProblemCard(Card):
    # The properties of the problem's loss for every law of the records. Least squares is strongly
    # convex if the features span the space; the features of a hard instance do not.
    loss_class: LossClass

    @property
    def quantity(self) -> Quantity:
        """The quantity that the bounds for this problem are about."""
        return "l2 error" if self.loss_class.form == "l2" else "excess risk"


@dataclass(frozen=True, kw_only=True)
class MethodCard(Card):
    privacy: Privacy  # the strongest privacy notion that the method satisfies; see `budgets`
    # whether a zCDP method also has a form for pure budgets
    pure_form: bool = False
    short: str = ""  # a short name, for labels in a figure
    # Whether the method chooses its clipping radius from the records, by private releases; other
    # methods fix the radius before they see any record.
    private_radius: bool = False
    geometry: str = "l2"  # the geometry that the method is made for: `"l2"`, or another norm
    level: Level = "item"  # whether a neighbour replaces an item or a user
    problems: tuple[str, ...] = ("mean",)  # slugs of the problems that it solves
    # slug of the upper bound whose exponents predict the method's slopes; empty if there is none
    rate: str = ""
    caveat: str = ""  # a warning to readers; may be empty

    @property
    def budgets(self) -> tuple[Privacy, ...]:
        """The kinds of budget under which the method can run; all of them if it is not private.

        A zCDP method also serves an (epsilon, delta) budget, and a pure one serves all three.
        """
        kinds: tuple[Privacy, ...] = ("pure", "zcdp", "approx")
        if self.privacy == "none" or self.pure_form:
            return kinds
        return kinds[kinds.index(self.privacy) :]


@dataclass(frozen=True, kw_only=True)
class BoundCard(Card):
    kind: Literal["upper", "lower"]
    # the bounded quantity; only bounds on equal quantities are compared
    quantity: Quantity = "l2 error"
    # `"explicit"`: every constant is proven. `"rate"`: the value is the expression with constant 1,
    # since the paper hides constants (and logarithms, if the summary says so).
    constant: Literal["explicit", "rate"]
    # the sense in which the bound holds
    guarantee: Guarantee = "expectation"
    # Whether the paper prints the bound in this form. If empty, a rate counts as printed and an
    # explicit bound does not.
    printing: Printing = ""
    latex: str  # the formula in LaTeX
    # For an upper bound, the notion that its method guarantees; for a lower bound, the algorithms
    # to which it applies, where `"none"` means every algorithm.
    privacy: Privacy
    method: str = ""  # slug of the method that attains an upper bound; empty for lower bounds
    # slug of the distribution on which a lower bound binds; empty if the catalogue has none
    instance: str = ""
    # slug of the problem that forms the hard instance with that distribution
    instance_problem: str = "mean"
    # The losses of the statement: an upper bound holds for all of them, and a lower bound is a
    # worst case over them.
    loss_class: LossClass = MEAN
    # the losses of a lower bound's hard instance, a part of `loss_class`
    instance_class: LossClass = MEAN
    # The name of the losses if they are only a part of `loss_class`: those of a lower bound's hard
    # instance, or those for which an upper bound holds.
    losses: str = ""
    # the laws of the records in the statement, unless the statement bounds the gradient of every
    # record; see `laws`
    law_class: LawClass = COORDINATE
    # Whether a neighbour in the statement replaces an item or a user. A bound at item level treats
    # the n m items of n users as records.
    level: Level = "item"
    problems: tuple[str, ...] = ("mean",)  # slugs of the problems whose figures show the bound
    geometry: Literal["l2", "lq"] = "l2"  # the geometry of the statement
    # The reason why the bound holds where the items of a user are alike. If empty, its proof needs
    # independent items, and it refuses other users.
    alike_items: str = ""
    # Whether the answer of an upper bound is fixed before any record is seen. Such an answer is
    # 0-DP, so the bound holds under every budget and at either level.
    ignores_data: bool = False
    # whether figures draw a lower bound; a variant of a drawn bound is listed in tables only
    drawn: bool = True
    # the kind of proof of an explicit lower bound; empty for rates and upper bounds
    proof: Proof = ""
    # whether figures call a lower bound Fano's bound, for its algorithms and losses
    is_fano: bool = False
    # the tables that list the bound first (`dpsco_core.explain.tables`), of its own paper or of
    # others
    tables: tuple[str, ...] = ()

    @property
    def is_printed(self) -> bool:
        """Whether a paper prints the bound in this form, its constants shown or hidden."""
        return self.printing == "printed" if self.printing else self.constant == "rate"

    @cached_property
    def laws(self) -> LawClass:
        """The laws that the statement is about; a Lipschitz loss has bounded gradients."""
        return BOUNDED if self.loss_class.lipschitz else self.law_class

    @cached_property
    def of_law(self) -> bool:
        """Whether the bound is for one given law, or for laws near it."""
        return not self.law_class.constants

    @property
    def class_text(self) -> str:
        """The classes of laws and of losses in the statement, in words."""
        losses = "" if self.loss_class == MEAN else " losses"
        return f"{self.laws}; {self.losses or f'{self.loss_class}{losses}'}"

    def is_comparable_with(self, lower: "BoundCard", covers: tuple[LawClass, ...]) -> bool:
        """Whether a lower bound cannot exceed this upper bound.

        This holds if both are proven for the same quantity, and the lower bound binds this one's
        algorithm on losses and laws of its class. `covers` lists the classes of laws for which this
        bound holds at the setting.
        """
        proven_kind = ("explicit", "expectation", self.quantity)
        # An upper bound for one loss says nothing about the other losses of its class.
        is_of_loss = bool(lower.losses) and lower.instance_problem in self.problems
        return (
            (self.kind, lower.kind) == ("upper", "lower")
            and (self.constant, self.guarantee) == proven_kind[:2]
            and (lower.constant, lower.guarantee, lower.quantity) == proven_kind
            and lower.privacy in BINDING[self.privacy]
            and lower.instance_class.is_within(self.loss_class)
            and lower.laws in covers
            and (is_of_loss or not self.losses)
        )

    def applies_to(self, problem: LossClass) -> bool:
        """Whether the bound covers methods for a class of problems: a `ProblemCard.loss_class`.

        An upper bound does if its class contains the problems; their smoothness and Lipschitz
        constants depend on the law of the records, and are among its hypotheses. A lower bound does
        if the problems' class contains its hard instance: a bound proven with linear losses does
        not bind a method that may rely on strong convexity, or on gradients bounded by 1.
        """
        contains_instance = self.instance_class.is_within(problem)
        return (
            contains_instance if self.kind == "lower" else problem.has_curvature_of(self.loss_class)
        )

    def is_wider(self, problem: LossClass) -> bool:
        """Whether the statement is about other curvature than that of a problem's losses."""
        return self.loss_class.curvature != problem.curvature
