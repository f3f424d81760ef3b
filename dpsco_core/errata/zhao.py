"""What was found in Zhao, Wu, Liu, Wang, Fan and Li (2024)."""

from __future__ import annotations

from functools import partial

from dpsco_core.card import ZHAO_2024
from dpsco_core.errata import zhao_runs as runs
from dpsco_core.errata.base import Erratum, Experiment

_entry = partial(Erratum, paper=ZHAO_2024)

ENTRIES: tuple[Erratum, ...] = (
    _entry(
        slug="zhao.group-shuffle",
        statement="Theorem 6",
        severity="not private as printed",
        printed="Shuffling k groups amplifies privacy if the answer is a symmetric function of "
        "the group sums.",
        wrong="Two groups may differ in all of their records, and noise hides one: on a fixed "
        "split the claim is false. Symmetry is neither enough nor needed.",
        instead="A fresh, secret, uniformly random assignment of records to slots in every call, "
        "under which it is proven; otherwise parallel composition.",
        modules=("dpsco_core.privacy.amplification", "dpsco_core.mean.iterative"),
        experiment=Experiment(name="δ on a fixed split", run=runs.group_shuffle),
    ),
    _entry(
        slug="zhao.side-condition",
        statement="Theorem 6, (24)",
        severity="missing condition",
        printed=r"Shuffling with $\epsilon\le8e^2\sqrt{\ln(4/\delta)/k}$.",
        wrong=r"The theorem that it rests on needs $k\ge16e^{\epsilon_0}\ln(4/\delta)$ too. And "
        "(24) gives a group less than no amplification does, for all k below about 100,000.",
        instead="The condition is enforced; the better of an exact amplification and of none is "
        "used.",
        modules=("dpsco_core.privacy.amplification",),
        experiment=Experiment(name="A group's share by (24) and without", run=runs.plain_share),
    ),
    _entry(
        slug="zhao.moment-class",
        statement="Theorems 2 and 4 against Theorem 1",
        severity="gap in proof",
        printed="Matching upper and lower bounds.",
        wrong="Upper bounds assume moments in every direction (4), the lower bound is for moments "
        r"of coordinates (5). Under (4) the upper bound can be improved by $d^{1/(2p)}$; under (5) "
        "the first term of (14) is too small by a root of d.",
        instead="Both classes have their own bounds, and a bound says which one it needs.",
        modules=("dpsco_core.bounds.upper_clipped", "dpsco_core.bounds.rows_clipped"),
        experiment=Experiment(name="The rate and the one that is attained", run=runs.moment_class),
    ),
    _entry(
        slug="zhao.bias-power",
        statement="(55)",
        severity="wrong constant or rate",
        printed=r"Clipping bias $\frac{d^{p/2}M^p}{(p-1)R^{p-1}}$.",
        wrong=r"True, with $\sqrt d$ too much under (4): $\kappa_pd^{(p-1)/2}M^pR^{1-p}$, "
        r"$\kappa_p=(p-1)^{p-1}/p^p$.",
        instead="The sharp bias, unless calibration or bound are “paper”.",
        modules=("dpsco_core.bounds.upper_clipped", "dpsco_core.mean.base"),
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
        modules=("dpsco_core.bounds.rows_sco_clipped", "dpsco_core.sco.iterative"),
    ),
    _entry(
        slug="zhao.lost-logarithms",
        statement="Lemma 9, (34)–(36), (107)",
        severity="wrong constant or rate",
        printed=r"$\ln\frac1{\delta_0}$ to the first power, no $\ln n$, $\ln d$.",
        wrong=r"Squaring (33) gives a square; the union bound's $\ln n$ is missing; $\ln\ln\frac1"
        r"\beta$ became $\ln d$; (107) drops another $\ln\frac1\delta$.",
        instead="Rates drop logarithms and say so; the row with logarithms is as printed.",
        modules=("dpsco_core.bounds.sco_rates",),
    ),
    _entry(
        slug="zhao.record-smoothness",
        statement="(65), Assumption 1(b)",
        severity="missing condition",
        printed="Only the population risk is smooth.",
        wrong="(65) uses that the loss of every record is.",
        instead="Smoothness of every record is a hypothesis of its own, checked.",
        modules=("dpsco_core.bounds.sco_conditions", "dpsco_core.problems.base"),
    ),
    _entry(
        slug="zhao.interior-minimum",
        statement="(39)",
        severity="missing condition",
        printed=r"$\|\nabla F(w)\|\le\lambda L$ on the set.",
        wrong="It needs a gradient of 0 at the minimiser.",
        instead=r"$\|\nabla F\|\le M$, which follows from (4); the constant is $M^2$.",
        modules=("dpsco_core.bounds.sco_framework", "dpsco_core.bounds.sco_uniform"),
    ),
    _entry(
        slug="zhao.clipping-variance",
        statement="(47), (83)",
        severity="gap in proof",
        printed=r"$E\langle u,Y-\mu\rangle^2\le E\langle u,X-\mu\rangle^2$ for clipped Y.",
        wrong="Clipping contracts towards 0 and not towards μ: false in general.",
        instead=r"$\mathrm{Var}\langle u,Y\rangle\le E\langle u,X\rangle^2\le M^2$, with which the "
        "conclusion stays.",
        modules=("dpsco_core.bounds.upper_clipped",),
        experiment=Experiment(name="A law far outside the ball", run=runs.clipping_moves_away),
    ),
    _entry(
        slug="zhao.units",
        statement="Theorems 4 and 7",
        severity="misprint",
        printed="T, R and η without M and L.",
        wrong="Not consistent in units.",
        instead="Parameters that scale with the gradients and with the set.",
        modules=("dpsco_core.sco.clipped", "dpsco_core.bounds.upper_clipped"),
    ),
    _entry(
        slug="zhao.densest-half-space",
        statement="Algorithm 3, (27)",
        severity="missing condition",
        printed="Estimate solves (27).",
        wrong="No algorithm is given; it is NP-hard when d is part of the input.",
        instead="Exact in one and two dimensions; a search over directions beyond, which is "
        "post-processing: private, with no proven error.",
        modules=("dpsco_core.mean.directions", "dpsco_core.mean.iterative"),
    ),
    _entry(
        slug="zhao.last-distance",
        statement="Algorithm 3, Lemma 8",
        severity="misprint",
        printed=r"$d_l$ at $c_1,\dots,c_{t_c}$, and $g\approx-(\mu_Y-c)$ in the prose.",
        wrong=r"The proof needs $c_{t_c+1}$ too, the sign is the other one, clipping is missing "
        "from the list of steps, and a negative distance moves away from the centre.",
        instead="One more evaluation, and a stop as soon as the distance is not positive.",
        modules=("dpsco_core.mean.iterative",),
    ),
    _entry(
        slug="zhao.vacuous-constants",
        statement="Theorem 5 with Lemmas 6 and 8",
        severity="wrong constant or rate",
        printed=r"$k=800\ln(1/\beta)$ groups and error $6r_0$.",
        wrong="With the proof's constants the bound is far above the trivial one at every size "
        "that is run.",
        instead="A bound at quantile one half without the split of the budget, and practical group "
        "numbers; the printed bound is a row of its own.",
        modules=("dpsco_core.bounds.upper_iterative", "dpsco_core.mean.iterative"),
        experiment=Experiment(name="The bound with printed constants", run=runs.vacuous_constants),
    ),
    _entry(
        slug="zhao.groups-unstated",
        statement="Theorem 7",
        severity="missing condition",
        printed="The number of groups k is not given.",
        wrong=r"The natural one, $800d\ln n$, needs as many records, a condition that is not "
        "mentioned.",
        instead="k is a parameter that is chosen from the setting, with at least one record each.",
        modules=("dpsco_core.sco.iterative", "dpsco_core.mean.iterative"),
        experiment=Experiment(name="Records that the groups need", run=runs.records_needed),
    ),
    _entry(
        slug="zhao.limit-remark",
        statement="Remark after Theorem 5",
        severity="misprint",
        printed=r"A limit of large ε.",
        wrong="The theorem itself bounds ε from above.",
        instead="The bound on ε is a hypothesis of the amplified rate.",
        modules=("dpsco_core.bounds.rows_iterative",),
    ),
    _entry(
        slug="zhao.quoted-lower-bound",
        statement="Theorem 1, (6)",
        severity="wrong constant or rate",
        printed=r"For every $(\epsilon,\delta)$-private algorithm $\sqrt{d/n}+\sqrt d(\dots)"
        r"^{1-1/p}\ln\frac1\delta$.",
        wrong=r"The source binds zCDP algorithms, has no factor $\ln\frac1\delta$, and has "
        r"$\min\{1,\cdot\}$; nobody has proven it as quoted.",
        instead="The source's bound with a proven constant; the quoted one is a row whose "
        "condition nothing meets.",
        modules=("dpsco_core.bounds.lower_sco_other", "dpsco_core.bounds.sco_rates"),
        experiment=Experiment(name="Beyond the largest excess risk", run=runs.quoted_bound),
    ),
    _entry(
        slug="zhao.conversion",
        statement="Proof of Theorem 3, Lemma 1(4)",
        severity="misprint",
        printed=r"$(\rho+2\sqrt{\ln(1/\delta)},\delta)$.",
        wrong=r"A ρ is missing under the root: $\rho+2\sqrt{\rho\ln(1/\delta)}$.",
        instead="The lemma, or a tight conversion.",
        modules=("dpsco_core.privacy.budget",),
        experiment=Experiment(name="As quoted, and the lemma", run=runs.conversion),
    ),
    _entry(
        slug="zhao.shuffling-formula",
        statement="(75), (77), (79)",
        severity="misprint",
        printed=r"$8e^{\epsilon_0}/\sqrt k$, and $=6k\delta_0$.",
        wrong=r"$8e^{\epsilon_0}/k$; the middle of (77) is inverted; (79) is an inequality.",
        instead="The formula of the source.",
        modules=("dpsco_core.privacy.amplification",),
    ),
    _entry(
        slug="zhao.root-over-d",
        statement="Introduction; (17), (40), (63), (66), (68), (82), (84), (88), (95)",
        severity="misprint",
        printed=r"$\sqrt{d/\epsilon n}$, $\ln n$ twice, $\langle F(w_t),\cdot\rangle$, k for "
        r"$k^2$, $2La$, an extra square.",
        wrong=r"$\sqrt d/(\epsilon n)$, once, $\langle\nabla F(w_t),\cdot\rangle$, $k^2$, "
        r"$2\lambda a$, none; (95) is argued for one direction and holds for all.",
        instead="The corrected forms, checked against each other in the tests.",
        modules=("dpsco_core.bounds.upper_iterative", "dpsco_core.bounds.sco_uniform"),
    ),
)
