"""The stories of the optimisers without privacy, and of those for Lipschitz losses."""

from __future__ import annotations

from dataclasses import replace

from dpsco_core.explain.stories.base import Proof, Story
from dpsco_core.explain.stories.sco_heavy import HUBER, LOGISTIC, QUADRATIC

NO_BOUND = "Nothing hides a record: it is here to show what privacy costs."
LIPSCHITZ = (
    "Lipschitz losses. Where the problem has none, the practical tuning first shrinks features (or "
    "records) into a ball, and minimises the risk of those: a bias that does not fall with n."
)
SMOOTHNESS = "Smooth losses, for every possible record: privacy rests on it."
TWICE = (
    "Twice differentiable generalised linear losses (logistic), half the squared distance, or "
    "linear ones."
)
CONVEX_SET = "A convex set that is bounded and can be projected on."

PLAIN_STORIES: tuple[Story, ...] = (
    Story(
        slug="sco.sgd",
        what="Goes through the records once and steps against each gradient (of a small batch "
        "where there are more than 4,000 records). The answer is an average of the points on the "
        "way. It is the classical method without privacy, with the step sizes of its textbook "
        "theorem.",
        steps=(
            "Choose batch, step size and averaging by what the problem certifies: strong "
            "convexity, smoothness, or only bounded gradients.",
            r"For every batch in turn: $w\leftarrow\Pi_W(w-\eta_t\,\bar g)$.",
            "Return the (weighted) average of the points.",
        ),
        assumptions=("A finite variance of the gradients.", CONVEX_SET),
        privacy=None,
        smooth="no",
        order=r"O(nd)",
        cost="One pass.",
        when="As the reference without privacy that sees every record once.",
        pitfalls=(NO_BOUND,),
        example=replace(LOGISTIC, methods=("sco.erm", "sco.sgd", "sco.clipped")),
    ),
    Story(
        slug="sco.erm",
        what="Minimises the average loss of the records over the set, to an accuracy that is "
        "certified and shown. Smooth losses are minimised by projected gradients with adaptive "
        "step sizes, losses with kinks by averaged subgradients in stages. It is the grey line of "
        "the optimisation figures: no privacy.",
        steps=(
            r"Minimise $\frac1n\sum_i\ell(w,Z_i)$ over W from its centre.",
            "Stop at a certified accuracy (relative 1e-8, or 1e-4 with kinks), or after 400 "
            "gradients.",
            "Return the point.",
        ),
        assumptions=("Convex losses.", CONVEX_SET),
        privacy=None,
        smooth="no",
        order=r"O(Tnd)",
        cost="T passes, until the certificate holds.",
        when="As the reference without privacy.",
        pitfalls=(NO_BOUND,),
        example=LOGISTIC,
    ),
    Story(
        slug="sco.noisy-gd",
        what="Gradient descent on all records, with Gaussian noise at every step as large as one "
        "Lipschitz loss could hide behind. Gradients are clipped to the Lipschitz constant, which "
        "changes none of them unless a record breaks it. It is the classical method of private "
        "empirical risk minimisation.",
        steps=(
            "Take the Lipschitz constant L of the losses, after shrinking records if there is "
            "none.",
            r"At step t average all gradients, clipped to L: $\bar g_t$.",
            r"Release $\tilde g_t=\bar g_t+N(0,\sigma^2I_d)$ with "
            r"$\sigma=\frac{2L}n\sqrt{\frac T{2\rho}}$.",
            r"Step: $w_{t+1}=\Pi_W(w_t-\eta\,\tilde g_t)$; return an average of the points.",
        ),
        assumptions=(LIPSCHITZ, CONVEX_SET),
        privacy=Proof(
            sensitivity=r"Every gradient has norm at most L for every record, so replacing one "
            r"moves the mean gradient by at most $\Delta_2=2L/n$ at a fixed point.",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho/T}$ makes a "
            r"step $\rho/T$-zCDP; no smoothness is needed.",
            composition=r"T adaptive steps on the same records cost $\rho$ together. Under "
            r"$(\varepsilon,\delta)$ that $\rho$ is the one of the exact Gaussian curve.",
        ),
        smooth="no",
        order=r"O(Tnd)",
        cost="T passes: all n gradients at each of T steps.",
        when="For Lipschitz losses with bounded records, and for logistic and hinge losses at "
        "small n even with heavy tails. For unbounded slopes clipped gradients, whose radius is "
        "chosen for the gradients near the optimum, goes on falling where this goes flat.",
        pitfalls=(
            "On heavy tails its bias comes from shrinking the records once and for all.",
            r"The theory tuning takes $T=\rho n^2/(2d)$ steps, at most 1000 passes.",
        ),
        errata=(
            r"The paper samples one record a step ($n^2$ steps); the library runs the full-batch "
            "version, at the same bound on the empirical risk, without amplification.",
            "Arora et al. quote its empirical rate as d/(εn), that of pure privacy; here it is "
            "√d/(εn).",
        ),
        example=replace(LOGISTIC, methods=("sco.erm", "sco.noisy-gd", "sco.clipped")),
    ),
    Story(
        slug="sco.phased-sgd",
        what="One pass of SGD in phases: each has half the records of the one before and a quarter "
        "of its step size. Nothing is noisy inside a phase; only the average of its points is "
        "released, with noise that hides one record's pull. The next phase starts there, and "
        "repairs what the noise did.",
        steps=(
            r"Phase i takes $n_i=\lfloor n2^{-i}\rfloor$ records of its own and "
            r"$\eta_i=4^{-i}\eta$.",
            r"It steps $w\leftarrow\Pi_W(w-\eta_i\,g)$ over them, gradients clipped to L, and "
            "averages the points at which gradients were asked.",
            r"It releases the average with $N(0,\sigma_i^2I_d)$, "
            r"$\sigma_i=\frac{2L\eta_i}{\sqrt{2\rho}}$, and projects it: the next start.",
            "Return the last phase's point.",
        ),
        assumptions=(LIPSCHITZ, SMOOTHNESS, CONVEX_SET),
        privacy=Proof(
            sensitivity=r"A step of size at most $2/\beta$ on a convex $\beta$-smooth loss moves "
            r"two points no further apart, nor does the projection. A replaced record moves them "
            r"apart by at most $2L\eta_i$, once: so the average of phase i moves by at most "
            r"$\Delta_2=2L\eta_i$.",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho}$ makes a "
            r"phase $\rho$-zCDP. Points inside a phase are not released.",
            composition=r"Phases look at disjoint records: all of them together cost $\rho$.",
        ),
        smooth="losses",
        order=r"O(nd)",
        cost="One pass: each record's gradient is taken at most once.",
        when="For smooth Lipschitz losses when one pass must do.",
        pitfalls=(
            "A loss with kinks breaks the proof; the method refuses it.",
            r"It is private only up to a step size of $2/\beta$, which the library checks.",
            "Doubles cannot tell a pull that is below their rounding: phases whose pull is not a "
            "thousand times larger than that are left out.",
        ),
        example=replace(LOGISTIC, methods=("sco.erm", "sco.phased-sgd", "sco.clipped")),
    ),
    Story(
        slug="sco.private-sgd",
        what="One pass of SGD over a random half of the records, in secret order, with noise on "
        "every single gradient. Kinks are allowed, because the proof does not use how steps "
        "contract. Each record's gradient is hidden by its own noise and by the crowd of the "
        "others.",
        steps=(
            "Take the Lipschitz constant L of the losses, after shrinking records if there is "
            "none.",
            r"Draw a fresh secret order of $m=\lfloor n/2\rfloor+1$ of the records.",
            r"For each: $w\leftarrow\Pi_W(w-\eta(g+\xi))$ with $\xi\sim N(0,\sigma^2I_d)$, the "
            "gradient clipped to L.",
            "With the theory tuning only: a geometric number of noise-only steps before each.",
            "Return the average of the points at which gradients were asked.",
        ),
        assumptions=(LIPSCHITZ, CONVEX_SET),
        privacy=Proof(
            sensitivity=r"A record enters one step, where it moves a gradient of norm at most L to "
            r"another one: by at most $\Delta_2=2L$. (The paper's Lemma 2 has L, which is wrong "
            "for replacing a record.)",
            mechanism=r"Gaussian noise on every gradient. Two sound accounts: without "
            r"amplification a record meets one release of $\sigma=2L/\sqrt{2\rho}$; with it, "
            r"the secret order lets n steps hide one another (clones of Feldman, McMillan and "
            r"Talwar, evaluated exactly).",
            composition=r"Not the sum over steps: given the order, everything after a record's own "
            r"step is post-processing. Under $(\varepsilon,\delta)$ the account with less noise "
            r"is used; under zCDP each step has $\rho$.",
        ),
        smooth="no",
        order=r"O(nd)",
        cost="Half a pass: each of the n/2 + 1 records' gradients once.",
        when="For losses with kinks in one pass, with very many records and a small ε.",
        pitfalls=("Noise is added to every record, so it errs most at small n.",),
        errata=(
            "Lemma 2 takes the sensitivity L in place of 2L: a counter-example exceeds its δ by a "
            "factor of 25.",
            "The composition argument conditions on hidden indices and does not go through; the "
            "final claim of Theorem 6 is confirmed by amplification by shuffling instead, at its "
            "printed noise.",
            "Its noise-only steps hide nothing in the sound analysis; the practical tuning leaves "
            "them out.",
        ),
        example=replace(
            HUBER,
            problem="hinge",
            methods=("sco.erm", "sco.clipped", "sco.private-sgd"),
            grid=(1000.0, 2000.0, 5000.0, 10_000.0, 20_000.0, 50_000.0),
            trials=5,
        ),
    ),
    Story(
        slug="sco.objective-perturbation",
        what="Adds a random linear term and a ridge to the empirical risk, and minimises that. The "
        "randomness is in the question, not in the answer: the exact minimiser is already private. "
        "What a solver leaves open is certified, and hidden by a second, tiny noise.",
        steps=(
            r"Draw $G\sim N(0,\sigma_1^2I_d)$ and choose the ridge $\lambda$ from the setting.",
            r"Minimise $\hat L(w)+\frac{\langle G,w\rangle}n+\lambda\|w\|^2$ over W, to an "
            r"accuracy $\alpha$ that is certified for every data set.",
            r"Add $H\sim N(0,\sigma_2^2I_d)$, which hides what the solver left open, and project.",
            "For half the squared distance and linear losses the minimiser has a closed form: "
            "neither solver nor H.",
        ),
        assumptions=(LIPSCHITZ, TWICE, "A convex set; its Gaussian width sets the noise's price."),
        privacy=Proof(
            sensitivity=r"Replacing a record moves n times the gradient by at most "
            r"$\Delta_2=2L$. The map from G to the minimiser changes its Jacobian by one record's "
            r"Hessian, of rank 1 and norm at most $\beta$. Two solutions of the same question are "
            r"at most $2\sqrt{\alpha/\lambda}$ apart (and what rounding adds).",
            mechanism=r"G as Gaussian noise for $\Delta_2$; the change of variables costs "
            r"$\varepsilon_J=\ln(1+\frac\beta{2n\lambda})$; H as Gaussian noise for "
            r"$2\sqrt{\alpha/\lambda}$.",
            composition=r"The three add up to $(\varepsilon,\delta)$. The calibration `tight` "
            r"leaves one per cent of both to H and balances G against the ridge; `paper` gives a "
            r"quarter of $\varepsilon$ to G, a quarter to the change of variables, and half to H. "
            "The closed forms release one noisy mean, at the exact Gaussian curve.",
        ),
        smooth="twice",
        order=r"O(Tnd)",
        cost="A few dozen passes of a deterministic solver; one pass where there is a closed form.",
        when="For logistic regression, above all on sets of small Gaussian width (ℓ₁ ball, "
        "simplex), where the dimension nearly drops out.",
        pitfalls=(
            "A solver that stops early, or stops at random, would break the proof: accuracy must "
            "be certified for every data set.",
            "It serves (ε, δ) budgets only, not zCDP.",
        ),
        errata=(
            r"Theorem 2's second cap on the accuracy has $n^{3/2}$ for $n^{5/2}$.",
            "Privacy is stated for every loss of the paper's class; the library has a proof for "
            "generalised linear and mean-type ones only, and refuses the others.",
        ),
        example=replace(
            LOGISTIC,
            methods=("sco.erm", "sco.clipped", "sco.objective-perturbation"),
            geometry="l1",
            p=4.0,
            d=50,
        ),
    ),
    Story(
        slug="sco.objective-perturbation-strong",
        what="Objective perturbation for losses that are strongly convex themselves, so that no "
        "ridge has to be added. For half the squared distance every record has the same Hessian, "
        "and the change of variables costs nothing. What is left is the mean of the records with "
        "noise, projected on the set.",
        steps=(
            "Shrink the records into a ball whose radius is chosen from the setting.",
            r"Release their mean with $N(0,\sigma^2I_d)$, $\sigma=\frac{2B}{n\sqrt{2\rho}}$, B "
            "that radius.",
            "Project it on the set.",
        ),
        assumptions=(
            "A strong convexity that no record can change: in the catalogue, the quadratic loss.",
            CONVEX_SET,
        ),
        privacy=Proof(
            sensitivity=r"Gradients of the quadratic loss differ by the records alone: replacing "
            r"one moves the mean gradient by at most $\Delta_2=2B/n$ (`paper` takes $2L/n$).",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho}$ on the linear "
            "term of the objective.",
            composition=r"Hessians do not depend on the record and the minimiser has a closed "
            r"form: there is neither a Jacobian nor a second noise. One release has all of "
            r"$(\varepsilon,\delta)$.",
        ),
        smooth="twice",
        order=r"O(nd)",
        cost="One pass.",
        when="For a mean on a set: the quadratic loss with a set that is not the ball.",
        pitfalls=("It is a clipped mean: clip the records badly, and it is biased for good.",),
        errata=(
            "The printed ridge subtracts moduli of two different norms, and is not private on sets "
            "wider than the unit ball; it must be the l2 modulus.",
            "Theorem 4 prints an ε in its first term that the introduction and Table 1 do not "
            "have.",
        ),
        example=replace(
            QUADRATIC,
            methods=("sco.erm", "sco.clipped", "sco.objective-perturbation-strong"),
            geometry="l1",
            d=50,
        ),
    ),
)
