"""The words of the page Privacy; every number comes from the core.

A title is the takeaway of a figure, which stands above it.
"""

from collections.abc import Sequence

from dpsco_app.pages.privacy.state import View
from dpsco_app.parts.options import at_most, budget_text, number_text
from dpsco_core.audit.attacks import Judged
from dpsco_core.audit.engine import Audit, AuditFindings
from dpsco_core.catalogue import method_card
from dpsco_core.explain.budgets import (
    Composed,
    Conversion,
    Point,
    Shuffled,
    laplace_conversion,
    promises,
)
from dpsco_core.explain.recipe.ledgers import Account
from dpsco_core.privacy.budget import ApproxDP

# For each verdict: the largest share of right guesses that it covers, and its words.
VERDICTS = (
    (0.55, "hardly better than tossing a coin"),
    (0.8, "better than a coin, and far from certain"),
    (0.95, "a good guess, with room for doubt"),
    (0.999, "close to certain"),
    (1.0, "as good as certain, so that this budget hides little"),
)
ABOUT_NEIGHBOURS = (
    "Budgets here are for neighbours that **replace** one record. Many other libraries mean "
    "neighbours of which one lacks a record (**add or remove**). Replacing a record in a ball of "
    "radius R moves a sum by up to 2R, taking it out by up to R: the same noise on a sum, with a "
    "public n, has half the sensitivity, half the ε of pure DP and a quarter of the ρ. Compare "
    "budgets only after this conversion."
)
QUESTIONS = {
    "ledger": "Where does a run spend its privacy budget?",
    "attack": "How often must an attacker be wrong?",
    "convert": "What does a budget promise, in every notion of privacy?",
    "compose": "What do many releases cost together?",
    "shuffle": "How much noise does a shuffle save?",
    "subsample": "How much privacy does a secret batch give?",
    "audit": "Does a method keep its promise?",
}
CONVERSION_NAMES = {
    "paper": "the papers' formula",
    "tight": "best for any zCDP",
    "gaussian": "exact for Gaussian noise",
}
ACCOUNTING_NAMES = {
    "basic": "basic: add ε and δ",
    "advanced": "advanced composition",
    "zcdp": "add ρ, convert (zCDP)",
    "exact": "add ρ, exact for Gaussian",
}
PURE_NAMES = ACCOUNTING_NAMES | {"basic": "basic: add ε", "exact": "optimal for pure DP"}
ROUTE_NAMES = {
    "none": "no shuffling",
    "printed": "printed (Zhao et al., eq. 24)",
    "closed": "clones, closed form",
    "numerical": "clones, exact sum",
    "steps": "adaptive steps",
}
FAULT_NAMES = {
    "none": "Honest",
    "half-noise": "Half the noise",
    "no-clipping": "No clipping",
    "printed-constant": "Printed constant",
}
PART_TEXTS = {
    "ledger": (
        "In this library no noise is drawn without an entry in a **ledger**. It knows how far "
        "one record (at user level one user) can move the value, its *sensitivity*, and what "
        "the release costs. It refuses what does not fit into the budget. This is one run at "
        "your scenario, with every entry."
    ),
    "attack": (
        "An **attacker** knows all records but one, knows the two values that this record may "
        "have, and sees what is released. A *false alarm* takes the first value for the second, a "
        "*miss* the second for the first; whoever avoids one has more of the other. The edge of "
        "the red region is the **trade-off curve** of what the ledger books at your budget: no "
        "attack gets below it, whatever it computes. Whether a record is in the data at all is no "
        "easier to tell. The box is what the audit's runs reached: one half of them chose where "
        "to draw the line, the other half counted the errors, with two exact intervals (Clopper "
        "and Pearson). The claim is refuted only where the upper right corner of the box is in "
        "the red region; a box that crosses its edge proves nothing. Unlike a bound on ε at a tiny "
        "δ, the curve also sees faults in events that are not rare."
    ),
    "convert": "**zCDP** (zero-concentrated DP) counts privacy in one number ρ that adds up over "
    "releases; Gaussian noise of standard deviation σ on a value that one record moves by at most "
    "Δ has ρ = Δ²/(2σ²). A report needs ε and δ. The same ρ gives three different ε: by the "
    "formula that the papers print (Bun and Steinke), by the best formula for every zCDP mechanism "
    "(Canonne, Kamath and Steinke), and by the exact curve of Gaussian noise (Balle and Wang). The "
    "gap between the lines is noise that can be saved, without a new algorithm.",
    "compose": "k releases of the same data, each at the same budget. **Basic** composition adds "
    "their ε, each taken at a k-th part of δ, where it is larger; **advanced** composition "
    "(Dwork, Rothblum and Vadhan) is here for reference; **zCDP** adds ρ and converts once. The "
    "fourth line is **exact**: for Gaussian releases the curve of Gaussian noise at the sum of "
    "ρ, for releases of pure DP the optimal composition (Kairouz, Oh and Viswanath). All four "
    "are true: the lowest is the best proof of the same thing. Basic composition grows like k; "
    "adding ρ grows like √k until ρ·k is large.",
    "shuffle": "Every record gets noise of its own, and nobody learns in which order the records "
    "came. Hiding among the others, each record may use less noise. Four arguments for how much "
    "less, at the (ε, δ) of all of them together: the formula that Zhao et al. print; that of the "
    "**clones** (Feldman, McMillan and Talwar: every other record may pass for the one in "
    "question), as its closed form and as its exact sum; and the exact sum for steps that depend "
    "on each other. See where the printed formula starts, and how far above the others it is; and "
    "that few records gain nothing from shuffling.",
    "subsample": "The mechanism sees a secret random batch of the records only. A record that is "
    "not in the batch is hidden perfectly, so that the whole is more private than the mechanism "
    "on its batch. Replace-one neighbours, sampling without replacement (Ullman 2017). Releases "
    "with Gaussian noise, each on a **new** secret batch, are composed by their moments, bounded "
    "from the curve of one release: what private SGD spends at most. With noise below the "
    "sensitivity the least ε that holds may be a quarter smaller. The straight line is the bound "
    "that is often quoted, q($e^\\varepsilon$ − 1) with q the share of the records; the exact one "
    "bends below it. With batches of 1 % ten thousand releases cost 20 % more than one on all "
    "records.",
    "audit": (
        "A proof can be wrong, and so can code. The **audit** takes a data set with one record "
        "far out, and two neighbours of it: in one the record is as far out on the other side, "
        "in the other it is 0. It runs the mechanism thousands of times on all three, and looks"
        " at what it lets out and at what its ledger books. On half of the runs it looks for "
        "the event that tells two neighbours apart best; on the other half it counts that "
        "event, and computes with Clopper and Pearson's exact intervals how large ε **must at "
        "least** be. If that is above the claim, or the attack on the same runs is below the "
        "claim's trade-off curve, the claim is refuted; if not, nothing is proven: an "
        "audit catches liars, it does not certify the honest."
    ),
}
ABOUT_FAULT = {
    "none": "The method as it is in the catalogue.",
    "half-noise": "A ledger made for this audit records honestly and then halves the noise.",
    "no-clipping": "The method clips a billion times further out than it claims, with the noise of "
    "the claim.",
    "printed-constant": "Kamath et al. (2022), Algorithm 4 with the printed variance τ²d/(ρn²) and "
    "a smoothing of variance 0.01: the sensitivity in the paper lacks a factor, and the ledger "
    "itself says so. The claim is that of Gaussian noise which really is ρ-zCDP; under an (ε, δ) "
    "budget the papers' loose conversion hides the flaw.",
}
WHY_DELTA = (
    "δ is large here on purpose: Gaussian noise at (1, 10⁻⁶) breaks the bound $e^\\varepsilon$ "
    "only in events of probability around 10⁻⁵, which no class will wait for."
)
HOW_TO_READ = (
    "* **Neighbours** replace one record (at user level all records of one user).\n"
    "* **ε** (epsilon), **δ** (delta): P[output on one] ≤ $e^\\varepsilon$ · P[output on the "
    "other] + δ. **Pure** is δ = 0. **ρ** (rho) is the zCDP parameter: Rényi divergence of every "
    "order α is at most ρα.\n"
    "* **Noise multiplier**: standard deviation of the noise over the sensitivity, 1/√(2ρ).\n"
    "* **Share** in the ledger: of what the run has spent; releases on disjoint blocks of records "
    "cost what the most expensive block costs, so that each may have 100 %.\n"
    "* **Confidence** of the audit: 99.9 % for *all* points of its line together. An honest "
    "mechanism crosses its claim in at most one audit of a thousand.\n"
    "* The audit's data sets are small and one-dimensional where the method allows it: a "
    "violation there is a violation. Fields such as n and d do not matter to a private mechanism's "
    "promise.\n"
    "* From a terminal: `dpsco budget --help`, `dpsco audit --help`."
)


def said_noise(point: Point, converted: Sequence[Conversion]) -> str:
    """Return sentences on the noise that a budget needs, and on what an exact conversion saves."""
    printed, exact = converted[0], converted[-1]
    if point.kind == "pure":
        laplace = laplace_conversion(point)
        assert laplace is not None
        cost = f"With Laplace noise it costs ρ = {laplace.rho:.4g}."
        return f"{cost} Gaussian noise cannot give pure DP."
    # Replacing a record moves a sum by up to twice the clip norm; adding or removing one, by up to
    # once.
    noise = (
        "The noise multiplier of libraries, noise over clip norm, is "
        f"{2 * exact.noise_multiplier:.4g} where a record is replaced and "
        f"{exact.noise_multiplier:.4g} where one is added or removed, for one release on all "
        "records"
    )
    if point.kind == "zcdp":
        ratio = printed.epsilon / exact.epsilon
        return f"{noise}. By the papers' formula it would cost {ratio:.3g} times this ε."
    saved = 1 - exact.noise_multiplier / printed.noise_multiplier
    return f"{noise}: {100 * saved:.0f} % less than by the papers' formula."


def said_odds(point: Point) -> str:
    """Return sentences on what a budget means to one person: how well a spy can guess at best."""
    promise = promises(point)[0]
    right = promise.guess
    verdict = next(words for most, words in VERDICTS if right <= most)
    text = (
        f"If a spy knows all other records and thinks your two possible records equally likely "
        f"(50 %), a guess after the release is right at most {at_most(right)} of the time, "
        f"whatever the method: {verdict}."
    )
    if promise.delta:
        text += (
            f" That includes δ = {number_text(promise.delta)}, the probability of revealing more "
            "than ε allows; with n records it should be far below 1/n."
        )
    return text


def said_neighbours(point: Point) -> str:
    """Return sentences on what the same noise promises if a record is replaced or taken out."""
    full, removed = promises(point)
    delta = f", δ = {number_text(full.delta)}" if full.delta else ""
    return (
        f"Replaced: ε = **{full.epsilon:.4g}**{delta}, a guess is right at most "
        f"{at_most(full.guess)} of the time. Taken out: ε = **{removed.epsilon:.4g}**{delta}, "
        f"{at_most(removed.guess)}."
    )


def title_conversions(point: Point, converted: Sequence[Conversion]) -> str:
    """Return the title on what a budget is worth: its Gaussian noise, its epsilon or its rho."""
    exact, delta = converted[-1], number_text(point.delta)
    if point.kind == "zcdp":
        cost = f"costs ε = {exact.epsilon:.3g} at δ = {delta}"
        return f"Gaussian noise of ρ = {number_text(point.rho)} {cost}"
    if point.kind == "pure":
        cost = f"costs at most ρ = {exact.rho:.3g}"
        return f"Pure ε = {number_text(point.epsilon)} {cost}, by any mechanism"
    return (
        f"ε = {number_text(point.epsilon)} at δ = {delta} takes Gaussian noise of "
        f"{exact.noise_multiplier:.3g} times the sensitivity"
    )


def title_composed(composition: Composed) -> str:
    """Return the title of the figure of compositions, which states its result."""
    # For pure releases, the sum of the epsilons needs no delta.
    at_part = f" at δ/{composition.releases:,} each" * (composition.basic_delta > 0)
    return (
        f"{composition.releases:,} releases together cost ε = {composition.exact:.3g}; adding "
        f"their ε{at_part} would give {composition.basic:.3g}"
    )


def title_shuffled(records: int, routes: Sequence[Shuffled]) -> str:
    """Return the title on how much less noise each of the shuffled records needs."""
    unshuffled, best = routes[0].noise_multiplier, min(s.noise_multiplier or 1e300 for s in routes)
    assert unshuffled is not None
    if best >= unshuffled * (1 - 1e-9):
        return f"{records:,} records are too few: shuffling them saves no noise"
    return f"Among {records:,} shuffled records each needs {unshuffled / best:.3g} times less noise"


def said_subsampled(
    view: View, single: ApproxDP, composed: tuple[float, float], full_epsilon: float
) -> str:
    """Return a sentence on the budgets of releases on a secret batch: of one, and of many.

    `composed` is the (epsilon, delta) of many, and `full_epsilon` that of as many on all records.
    """
    epsilon, delta = composed
    return (
        f"One release on it is ({single.epsilon:.4g}, {number_text(single.delta)})-DP, "
        f"{view.releases:,} Gaussian releases on a batch each are ({epsilon:.3g}, "
        f"{number_text(delta)})-DP; on all records {view.releases:,} Gaussian releases cost "
        f"ε = {full_epsilon:.4g}."
    )


def title_subsampled(view: View, epsilon: float, single: ApproxDP, composed: float) -> str:
    """Return the title on how far a secret batch lowers epsilon, for one release and for many.

    `single` is the budget of one release, and `composed` the epsilon of all of them.
    """
    return (
        f"A batch of {view.batch:,} of {view.records:,} turns ε = "
        f"{epsilon:.4g} into {single.epsilon:.3g}; {view.releases:,} batches cost "
        f"{'at most ' * (view.releases > 1)}{composed:.3g}"
    )


def title_ledger(account: Account) -> str:
    """Return the title of a run's ledger, on the release with the largest share of the budget."""
    name = method_card(account.outcome.method).name
    if account.parallel:
        return f"{name} spends on disjoint blocks: each may cost all of the budget"
    top = max(account.spendings, key=lambda s: s.share)
    times = f", {top.count:,} equal releases" * (top.count > 1)
    return f"{name}: {100 * top.share:.0f} % of the budget went to “{top.label}”{times}"


def said_ledger(account: Account) -> str:
    """Return the sentence that states what a run has spent of its budget."""
    spent, count = account.outcome.spent, len(account.entries)
    noun = "release" if count == 1 else "releases"
    parallel = (
        " The blocks are disjoint: a neighbour changes one of them, and only "
        "the most expensive one counts."
        if account.parallel
        else ""
    )
    extent = "all of" if spent == account.budget else "within"
    amount = "nothing" if spent is None else budget_text(spent)
    text = (
        f"{count:,} {noun}; spent {amount}, {extent} the budget "
        f"{budget_text(account.budget)}.{parallel}"
    )
    if account.outcome.flaws:
        text += " Flawed: " + "; ".join(dict.fromkeys(account.outcome.flaws)) + "."
    return text


def title_audit(judged: Judged) -> str:
    """Return the title of an audit: the bound that it found, and the verdict of both tests."""
    result = judged.result
    bound, claim = result.epsilon_lower_bound, result.claimed_epsilon
    if result.caught_at is None and judged.verdict == "refuted":
        return f"Caught by {judged.curve_name}; the bound on ε alone does not refute {claim:.3g}"
    if result.caught_at is None:
        return f"ε is at least {bound:.2f}: the claim of {claim:.3g} is {judged.verdict}"
    return f"Caught after {result.caught_at:,} runs: ε is at least {bound:.2f}, not {claim:.3g}"


def said_audit(task: Audit, judged: Judged) -> str:
    """Return sentences on an audit: its method, its runs, its confidence, and what refutes it."""
    result = judged.result
    broken = f", {FAULT_NAMES[task.fault].lower()}" if task.fault != "none" else ""
    text = (
        f"{method_card(task.method).name}{broken}: {result.evidence[-1].runs:,} runs at "
        f"δ = {number_text(result.delta)}; confidence {100 * task.confidence:g} %, all looks "
        "and both tests together."
    )
    if judged.verdict == "refuted" and result.caught_at is None:
        text += f" Refuted {judged.grounds}."
    if result.flaws and judged.verdict != "refuted":
        text += " The runs do not refute it, but its claim does not hold: see below."
    return text


def title_histogram(result: AuditFindings) -> str:
    """Return the title of an audit's histogram: how often the best event happens on either side."""
    evidence = result.evidence[-1]
    return (
        f"The best event happens in {100 * evidence.hits / evidence.tested:.3g} % of the runs on "
        f"one neighbour, {100 * evidence.false_hits / evidence.tested:.3g} % on the other"
    )
