"""What was found in Zhao, Wu, Liu, Wang, Fan and Li (2024)."""

from __future__ import annotations

from functools import partial

from dpsco_core.base.cards import ZHAO_2024
from dpsco_core.explain.errata import zhao_runs as runs
from dpsco_core.explain.errata.base import Erratum, Experiment

_entry = partial(Erratum, paper=ZHAO_2024)

ENTRIES: tuple[Erratum, ...] = (
    _entry(
        slug="zhao.group-shuffle",
        statement="Theorem 6",
        severity="gap in proof",
        printed="An estimate that depends only on the k noisy group means, and not on their order, "
        r"is $(\epsilon,\delta)$-DP with (24).",
        wrong="The proof shuffles the group means, as if a group were one record; but two groups "
        "may differ in all of their records, and the noise hides one. Symmetry is neither enough "
        "nor needed: with a fixed split, which the statement does not exclude, it is false from "
        "about 240,000 groups on. Line 1 of Algorithm 3 divides the records randomly: if that "
        "split is uniform, fresh in every call and secret, the conclusion is true, by an argument "
        "over single records that the paper does not give.",
        instead="A fresh, secret, uniformly random assignment of records to slots in every call, "
        "under which it is proven; otherwise parallel composition.",
        modules=("dpsco_core.privacy.amplification", "dpsco_core.methods.mean.iterative"),
        experiment=Experiment(name="δ by (24) on a fixed split", run=runs.group_shuffle),
    ),
    _entry(
        slug="zhao.side-condition",
        statement="Theorem 6, (24)",
        severity="gap in proof",
        printed=r"Shuffling with $\epsilon\le8e^2\sqrt{\ln(4/\delta)/k}$ as the only condition.",
        wrong=r"The theorem that the proof cites needs $k\ge16e^{\epsilon_0}\ln(4/\delta)$ too. "
        "The conclusion survives without it, for a reason that is not given: for all k below about "
        r"100,000 (at $\delta=10^{-6}$), (24) gives a group less than it may spend without any "
        "shuffling, by (15). The “sufficiently large k” of the text is that large, and Lemma 6 "
        r"takes $k=800\ln(1/\beta)$.",
        instead="The condition is enforced; the better of an exact amplification and of none is "
        "used.",
        modules=("dpsco_core.privacy.amplification",),
        experiment=Experiment(name="A group's share by (24) and by (15)", run=runs.plain_share),
    ),
    _entry(
        slug="zhao.moment-class",
        statement="Theorems 2 and 4 against Theorem 1",
        severity="gap in proof",
        printed="Under Assumption 1 the minimax lower bound is Theorem 1, and the upper bounds "
        "match it.",
        wrong="Assumption 1 bounds moments in every direction (4), the source of Theorem 1 those "
        "of coordinates (5), which is weaker: its hard instance is not in the class (4). Under (4) "
        r"the upper bound can be improved by $d^{1/(2p)}$, for large d to below Theorem 1. Under "
        "(5) the first term of (14) would be too small, by up to a root of d.",
        instead="Both classes have their own bounds, and a bound says which one it needs.",
        modules=("dpsco_core.bounds.mean.clipped",),
        experiment=Experiment(name="(14) with (55) and with the sharp bias", run=runs.moment_class),
    ),
    _entry(
        slug="zhao.bias-power",
        statement="(55)",
        severity="valid but loose",
        printed=r"Clipping bias $\frac{d^{p/2}M^p}{(p-1)R^{p-1}}$.",
        wrong=r"True, and under (4) larger than it need be by the order of $\sqrt d$: "
        r"$\kappa_pd^{(p-1)/2}M^pR^{1-p}$, $\kappa_p=(p-1)^{p-1}/p^p$.",
        instead="The sharp bias, unless calibration or bound are “paper”.",
        modules=("dpsco_core.bounds.mean.clipped", "dpsco_core.methods.mean.base"),
        experiment=Experiment(name="(55) and the sharp bias", run=runs.bias_power),
    ),
    _entry(
        slug="zhao.noise-in-bias",
        statement="Lemma 9, Theorem 7",
        severity="gap in proof",
        printed="The bias of iterative updating has no noise in it.",
        wrong="No proof is given. The noise enters non-linearly; what the tools of the paper give "
        r"for the bias contains the noise radius, of constant order at the printed T.",
        instead="The rate is shown as the paper's claim, with this sentence as a condition that "
        "nothing meets.",
        modules=("dpsco_core.bounds.euclidean.clipped", "dpsco_core.methods.euclidean.iterative"),
    ),
    _entry(
        slug="zhao.lost-logarithms",
        statement="Lemma 9, (34)–(36), (107)",
        severity="gap in proof",
        printed=r"$\ln\frac1{\delta_0}+\sqrt{\ln\frac1{\delta_0}\ln d}$ in (35), no $\ln n$ in "
        r"(34) and (35), and $\ln\frac1\delta\ln(nd)$ in (36).",
        wrong=r"No proof is given, and (33) does not give them: its square has the square of this "
        r"sum, the union bound brings $\ln n$, and $\ln\ln\frac1\beta$ has become $\ln d$. (107) "
        r"drops another $\ln\frac1\delta$, which needs δ of at least a power of 1/n.",
        instead="Rates drop logarithms and say so; the row with logarithms is as printed.",
        modules=("dpsco_core.bounds.euclidean.clipped",),
    ),
    _entry(
        slug="zhao.record-smoothness",
        statement="(65), Assumption 1(b)",
        severity="missing condition",
        printed="Only the population risk is smooth.",
        wrong="(65) uses that the loss of every record is.",
        instead="Smoothness of every record is a hypothesis of its own, checked.",
        modules=("dpsco_core.bounds.euclidean.conditions", "dpsco_core.problems.base"),
    ),
    _entry(
        slug="zhao.interior-minimum",
        statement="(39)",
        severity="missing condition",
        printed=r"$\|\nabla F(w)\|\le\lambda L$ on the set.",
        wrong="It needs a gradient of 0 at the minimiser, which Assumption 1 does not ask for: a "
        r"linear risk has $\lambda=0$.",
        instead=r"$\|\nabla F\|\le M$, which follows from (4); the constant is $M^2$.",
        modules=("dpsco_core.bounds.euclidean.framework", "dpsco_core.bounds.euclidean.uniform"),
    ),
    _entry(
        slug="zhao.clipping-variance",
        statement="(47), (83)",
        severity="gap in proof",
        printed=r"$E\langle u,Y-\mu\rangle^2\le E\langle u,X-\mu\rangle^2$ for clipped Y.",
        wrong="Clipping contracts towards 0 and not towards μ: false in one direction u even where "
        "μ is inside the ball.",
        instead=r"$\mathrm{Var}\langle u,Y\rangle\le E\langle u,X\rangle^2\le M^2$, with which the "
        "conclusion stays.",
        modules=("dpsco_core.bounds.mean.clipped",),
        experiment=Experiment(name="A constant entry", run=runs.clipping_moves_away),
    ),
    _entry(
        slug="zhao.units",
        statement="Theorems 4 and 7",
        severity="misprint",
        printed="T, R and η without M and L.",
        wrong="The rates may hide these constants; parameters of an algorithm need them, and are "
        "consistent in units only at M = L = 1.",
        instead="Parameters that scale with the gradients and with the set.",
        modules=("dpsco_core.methods.euclidean.clipped", "dpsco_core.bounds.mean.clipped"),
    ),
    _entry(
        slug="zhao.densest-half-space",
        statement="Algorithm 3, (27)",
        severity="missing condition",
        printed="Estimate solves (27).",
        wrong="No algorithm is given, and the problem is NP-hard when d is part of the input. "
        "Theorem 5 claims an estimator and no running time, so that it stands; what can be run for "
        r"$d\ge3$ is a search, without its guarantee.",
        instead="Exact in one and two dimensions; a search over directions beyond, which is "
        "post-processing: private, with no proven error.",
        modules=("dpsco_core.methods.mean.directions", "dpsco_core.methods.mean.iterative"),
    ),
    _entry(
        slug="zhao.last-distance",
        statement="Algorithm 3, Lemma 8",
        severity="misprint",
        printed=r"$d_l$ at $c_1,\dots,c_{t_c}$, and $g\approx-(\mu_Y-c)$ in the prose.",
        wrong=r"The proof needs $c_{t_c+1}$ too, the sign is the other one, clipping is missing "
        "from the list of steps, and a negative distance moves away from the centre.",
        instead="One more evaluation, and a stop as soon as the distance is not positive.",
        modules=("dpsco_core.methods.mean.iterative",),
    ),
    _entry(
        slug="zhao.vacuous-constants",
        statement="Theorem 5 with Lemmas 6 and 8",
        severity="valid but loose",
        printed=r"$k=800\ln(1/\beta)$ groups and error $6r_0$, with (24).",
        wrong="With the proof's constants the bound is far above the trivial one at every size "
        "that is run here.",
        instead="A bound at quantile one half without the split of the budget, and practical group "
        "numbers; the printed bound is a row of its own.",
        modules=("dpsco_core.bounds.mean.iterative", "dpsco_core.methods.mean.iterative"),
        experiment=Experiment(name="The bound with printed constants", run=runs.vacuous_constants),
    ),
    _entry(
        slug="zhao.groups-unstated",
        statement="Theorem 7",
        severity="missing condition",
        printed="The number of groups k is not given.",
        wrong="Lemma 6 ties it to the failure probability. A union bound like that of appendix C "
        r"asks for $\beta\le n^{-d}$, so that $k\ge800d\ln n$, and for as many records. That "
        "condition is not mentioned.",
        instead="k is a parameter that is chosen from the setting, with at least one record each.",
        modules=("dpsco_core.methods.euclidean.iterative", "dpsco_core.methods.mean.iterative"),
        experiment=Experiment(name="Records that the groups need", run=runs.records_needed),
    ),
    _entry(
        slug="zhao.limit-remark",
        statement="Remark after Theorem 5",
        severity="misprint",
        printed=r"With $\epsilon\to\infty$ or $\delta\to1$ the rate without privacy follows.",
        wrong=r"The theorem itself asks for $\epsilon\le c\sqrt{\ln(1/\delta)/k}$, which excludes "
        "both.",
        instead="The bound on ε is a hypothesis of the amplified rate.",
        modules=("dpsco_core.bounds.mean.iterative",),
    ),
    _entry(
        slug="zhao.quoted-lower-bound",
        statement="Theorem 1, (6)",
        severity="wrong constant or rate",
        printed=r"For every $(\epsilon,\delta)$-private algorithm $\sqrt{d/n}+\sqrt d(\dots)"
        r"^{1-1/p}\ln\frac1\delta$.",
        wrong=r"The source (Kamath et al., Theorem 6.4) binds zCDP algorithms, has no factor "
        r"$\ln\frac1\delta$, and has $\min\{1,\cdot\}$. As quoted it grows without limit as ε or δ "
        "falls, and no excess risk exceeds LM.",
        instead="The source's bound with a proven constant; the quoted one is a row whose "
        "condition nothing meets.",
        modules=("dpsco_core.bounds.euclidean.lower_other",),
        experiment=Experiment(name="Beyond the largest excess risk", run=runs.quoted_bound),
    ),
    _entry(
        slug="zhao.conversion",
        statement="Proof of Theorem 3, Lemma 1(4)",
        severity="misprint",
        printed=r"$(\rho+2\sqrt{\ln(1/\delta)},\delta)$.",
        wrong=r"A ρ is missing under the root: $\rho+2\sqrt{\rho\ln(1/\delta)}$, as in (16).",
        instead="The lemma, or a tight conversion.",
        modules=("dpsco_core.privacy.budget",),
        experiment=Experiment(name="As quoted, and the lemma", run=runs.conversion),
    ),
    _entry(
        slug="zhao.shuffling-formula",
        statement="(75), (77), (79)",
        severity="misprint",
        printed=r"$8e^{\epsilon_0}/\sqrt k$, and $=6k\delta_0$.",
        wrong=r"$8e^{\epsilon_0}/k$, as in the third line of (80); the middle of (77) is inverted; "
        "(79) is an inequality. The conclusions hold either way.",
        instead="The formula of the source.",
        modules=("dpsco_core.privacy.amplification",),
    ),
    _entry(
        slug="zhao.small-slips",
        statement="(17), (40), (63), (66), (68), (82), (84), (88), (95)",
        severity="misprint",
        printed=r"$\ln n$ twice; $\langle F(w_t),\cdot\rangle$; $M/a$; $2La$; a square too many; "
        r"k; $E\|W_j\|=\sigma\sqrt d$; $P(V-E[V])$; one direction.",
        wrong=r"In this order: once; $\langle\nabla F(w_t),\cdot\rangle$; $L/a$, L the diameter; "
        r"$2\lambda a$; none; $k^2$; $\le$; $P(V-E[V]>t)$; (95) is argued for one direction, and "
        "the same argument holds for all.",
        instead="The corrected forms, checked against each other in the tests.",
        modules=("dpsco_core.bounds.mean.iterative", "dpsco_core.bounds.euclidean.clipped"),
    ),
)
