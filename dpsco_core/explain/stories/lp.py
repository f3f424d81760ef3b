"""The stories of the optimisers for sets measured in other norms than l2."""

from __future__ import annotations

from dataclasses import replace

from dpsco_core.explain.stories.base import Proof, Story
from dpsco_core.explain.stories.sco_heavy import LOGISTIC

BASE = replace(LOGISTIC, problem="huber", d=20, trials=5)
ON_L1 = replace(BASE, geometry="l1")
ON_CUBE = replace(BASE, geometry="linf")
CUBE_LOGISTIC = replace(ON_CUBE, problem="logistic")
EVERYWHERE = (
    "Losses that are Lipschitz and smooth on all of space: logistic or Huber regression, whose "
    "features are shrunk in the dual norm where they are unbounded."
)
STATIONARY = (
    "A smooth population risk and a bounded variance of the gradients in the dual norm; single "
    "losses may have kinks."
)
ZERO = "A bounded set that contains 0, and on which a mirror step is known."
TRUNCATED = (
    r"A gradient beyond $\tau$ becomes 0, and all others lie in the dual ball of radius $\tau$: "
    r"replacing a record moves the sum of its batch by at most $\Delta_{q'}=2\tau$, whatever the "
    "record is."
)
PUBLIC = (
    "A record enters one batch, so the whole run costs what one release does (parallel "
    "composition), whatever the order of the records."
)
GAUSSIAN_DUAL = (
    r"the Gaussian needs the l2 sensitivity $d^{1/2-1/q'}\Delta_{q'}$; the generalized one has a "
    r"density that falls with a smooth form of the dual norm"
)

LP_STORIES: tuple[Story, ...] = (
    Story(
        slug="lp.regularized-mirror-descent",
        what="Mirror descent measures steps in a norm that fits the set, so that on an ℓ₁ ball "
        "sampling costs a logarithm of the dimension; the noise still grows with it. It takes "
        "noisy gradients of all records, and a regulariser pulls the path back towards 0. The "
        "result may leave the set, because the method works on the whole space.",
        steps=(
            r"Choose T, the proximal weight B and the regulariser $\alpha$ from the setting.",
            r"At step t release $\tilde g_t=\nabla\hat F(w_t)+$ noise, for the dual sensitivity "
            r"$2L/n$ and the share $\rho/T$.",
            r"Step in dual variables: $u_{t+1}=\frac{Bu_t-\tilde g_t}{B+\alpha}$, and back: "
            r"$w=\nabla\Phi^*(u)$ with $\Phi=\frac\kappa2\|\cdot\|_s^2$.",
            "Return the average of the points, later ones with more weight.",
        ),
        assumptions=(
            EVERYWHERE,
            "Parameters measured in an ℓ_q norm with q of at most 2; at q = 2 it is gradient "
            "descent with a ridge.",
        ),
        privacy=Proof(
            sensitivity=r"Every loss is L-Lipschitz in $\|\cdot\|_q$, so its gradient has dual "
            r"norm at most L: replacing a record moves the mean by at most $\Delta_{q'}=2L/n$.",
            mechanism=f"Gaussian (`tight`) or generalized Gaussian noise (`paper`): {GAUSSIAN_DUAL}"
            r". Either is $\rho/T$-zCDP a step.",
            composition=r"T adaptive steps on the same records cost $\rho$ together. Under "
            r"$(\varepsilon,\delta)$ it is the $\rho$ of the exact Gaussian curve, or for the "
            "generalized noise the best conversion from zCDP.",
        ),
        smooth="losses",
        order=r"O(Tnd)",
        cost="T passes: all gradients at each of T steps.",
        when="On ℓ₁ balls and simplices with smooth Lipschitz losses.",
        pitfalls=(
            "The answer may lie outside the set.",
            "Features are shrunk once and for all: that bias stays.",
        ),
        errata=(
            "The printed schedule of Theorem 7 regularises so much that the result stays near 0; "
            "the practical tuning regularises less.",
            r"Its T fits its rate with $\sqrt\kappa$ inside the power, and the weights of its "
            r"output belong to a proximal weight of $2\beta$ in place of $\beta$; `tight` has "
            r"both, with n > T and $\alpha\le2\beta$.",
            "The printed index makes a potential that is not as strongly convex as stated; the "
            "library takes the conjugate one.",
        ),
        example=replace(
            ON_L1, methods=("sco.erm", "lp.regularized-mirror-descent", "sco.noisy-gd")
        ),
    ),
    Story(
        slug="lp.phased-sgd",
        what="Phased SGD without a set: one pass in phases of halving length and quartering step "
        "size, each of which ends with noise, on the whole space. For parameters in an ℓ_q norm "
        "with q of at least 2 the loss has the same constants in ℓ₂, so that nothing else changes. "
        "The answer may leave the set.",
        steps=(
            r"Phase $i=1,\dots,\lfloor\log_2n\rfloor$ (the practical tuning takes fewer) has "
            r"$n_i=\lfloor n2^{-i}\rfloor$ records of its own and $\eta_i=4^{-i}\eta$.",
            r"Step $w\leftarrow w-\eta_i\,g$ over them, gradients clipped to L, from where the "
            "last phase ended (the first starts at 0).",
            r"Release the average of the points with $N(0,\sigma_i^2I_d)$, "
            r"$\sigma_i=\frac{2L\eta_i}{\sqrt{2\rho}}$.",
            "Return the last average.",
        ),
        assumptions=(EVERYWHERE, "q of at least 2."),
        privacy=Proof(
            sensitivity=r"A step of size at most $2/\beta$ on a convex $\beta$-smooth loss does "
            r"not move two points apart; a replaced record does, by at most $2L\eta_i$, once. So "
            r"the average of phase i moves by at most $\Delta_2=2L\eta_i$.",
            mechanism=r"Gaussian noise of standard deviation $\Delta_2/\sqrt{2\rho}$ makes a phase "
            r"$\rho$-zCDP.",
            composition=r"Phases look at disjoint records: all of them together cost $\rho$.",
        ),
        smooth="losses",
        order=r"O(nd)",
        cost="One pass: each record's gradient is taken at most once.",
        when="On cubes and balls with q of at least 2, where one pass must do and the answer need "
        "not lie in the set.",
        pitfalls=(
            "No projection: large noise takes it far away.",
            r"It is private only up to a step size of $2/\beta$, which the library checks.",
        ),
        errata=(
            "The paper names the algorithm and leaves its parameters to an appendix; they are "
            "reconstructed here.",
            r"Theorem 8's bound vanishes at $\theta^*=0$: an additive term is hidden, which the "
            "library's row has.",
        ),
        example=replace(CUBE_LOGISTIC, methods=("sco.erm", "sco.noisy-gd", "lp.phased-sgd")),
    ),
    Story(
        slug="lp.shuffled-mirror-descent",
        what="One pass of mirror descent over batches for heavy-tailed gradients: a gradient that "
        "is too long becomes 0. Records come in a secret random order and each brings noise of its "
        "own, so that they hide one another. Where few steps are made a single draw of noise a "
        "batch is smaller; then it takes that, and says so.",
        steps=(
            r"Choose T, the level $\tau$ and the step weight $\gamma$ from the setting, and the "
            "accounting with less noise.",
            "Draw a fresh secret order of the records (if it shuffles), and cut it into T batches "
            r"of $b=\lfloor n/T\rfloor$.",
            r"At step t sum the gradients of the batch whose dual norm is at most $\tau$, and add "
            "noise: b draws if it shuffles, one draw otherwise.",
            r"Mirror step on the set: $\arg\min_{w\in W}\langle\tilde g,w\rangle+\gamma "
            r"D_\Phi(w,w_{t-1})$.",
            "Return the average of the points.",
        ),
        assumptions=(STATIONARY, ZERO, "q of at most 2."),
        privacy=Proof(
            sensitivity=TRUNCATED,
            mechanism=f"Noise for $\\Delta_{{q'}}$: {GAUSSIAN_DUAL}. Shuffled: every record's "
            "gradient gets a draw, and the secret order amplifies (clones, evaluated exactly). "
            "Unshuffled: one draw a batch.",
            composition="Shuffled: all n steps are certified together, as an adaptive sequence. "
            "Unshuffled: " + PUBLIC[0].lower() + PUBLIC[1:],
        ),
        smooth="risk",
        order=r"O(nd)",
        cost="One pass; a mirror step at every batch.",
        when="On ℓ₁ balls with heavy tails and very many records, at small ε.",
        pitfalls=(
            "The practical tuning makes so few steps that the unshuffled account has less noise at "
            "every size we tried: the theory tuning, which the example takes, does shuffle.",
            "The order must never be released.",
        ),
        errata=(
            "The paper's noise is an O(·) whose constant is 170 to 270 when made explicit; `tight` "
            "evaluates the amplification instead.",
            r"Its truncation level $\beta M$ bounds the mean gradient only if the risk is "
            "stationary somewhere in the set; the library uses the certified bound.",
            "The library's bound has the power of κ of Theorem 10's rate with Gaussian noise; with "
            "generalized Gaussian noise it has κ^(3/4), a difference that the theorem's "
            "logarithms may hide.",
            "The printed κ is up to e times too small; where the budget has no room for that, "
            "`paper` marks the release as flawed.",
        ),
        example=replace(
            ON_L1,
            methods=("sco.erm", "lp.batched-mirror-descent", "lp.shuffled-mirror-descent"),
            epsilon=0.5,
            n=20_000,
            grid=(5000.0, 20_000.0, 50_000.0),
            trials=3,
            tuning="theory",
        ),
    ),
    Story(
        slug="lp.batched-mirror-descent",
        what="One pass of mirror descent over disjoint batches, with one draw of noise each. "
        "Gradients that are too long become 0. It needs no secret order, and so it works for every "
        "ε and under zCDP.",
        steps=(
            r"Choose T, $\tau$ and $\gamma$ from the setting; cut the records into T batches of "
            r"$b=\lfloor n/T\rfloor$.",
            r"At step t sum the gradients of the batch whose dual norm is at most $\tau$, add one "
            "draw of noise, and divide by b.",
            r"Mirror step on the set with weight $\gamma$.",
            "Return the average of the points.",
        ),
        assumptions=(STATIONARY, ZERO, "q of at most 2."),
        privacy=Proof(
            sensitivity=TRUNCATED,
            mechanism=f"One draw of noise a batch for $\\Delta_{{q'}}$: {GAUSSIAN_DUAL}.",
            composition=PUBLIC,
        ),
        smooth="risk",
        order=r"O(nd)",
        cost="One pass; a mirror step at every batch.",
        when="On ℓ₁ balls and other sets with q of at most 2, with heavy tails, when one pass must "
        "do.",
        pitfalls=("Truncation to 0 is a larger bias than clipping, where τ is small.",),
        errata=(
            "The paper states it in an appendix that was not at hand: steps and noise are "
            "reconstructed such that they have the rate of its Table 2.",
            "The printed κ is up to e times too small, as for the shuffled version.",
        ),
        example=replace(
            ON_L1,
            methods=("sco.erm", "lp.batched-mirror-descent", "lp.shuffled-mirror-descent"),
        ),
    ),
    Story(
        slug="lp.euclidean-reduction",
        what="For sets with q of at least 2, such as a cube, the problem is simply taken in ℓ₂. "
        "Then it is one pass of gradient descent over batches, projected on the set, with long "
        "gradients set to 0. The price of the reduction is the set's ℓ₂ diameter, which grows with "
        "the dimension.",
        steps=(
            r"Choose T, $\tau$ and the step size from the setting, with the set's ℓ₂ diameter.",
            r"Sum the gradients of a batch whose ℓ₂ norm is at most $\tau$, add Gaussian noise, "
            "divide by b.",
            r"Step and project on the set; return the average of the points.",
        ),
        assumptions=(STATIONARY, "A set with q of at least 2 that contains 0."),
        privacy=Proof(
            sensitivity=TRUNCATED.replace("dual ball", "ℓ₂ ball").replace("_{q'}", "_2"),
            mechanism=r"Gaussian noise of standard deviation $2\tau/\sqrt{2\rho}$ on the sum of a "
            "batch; or, in secret random order, a draw for every record with amplification by "
            "shuffling. The account with less noise is used.",
            composition=PUBLIC + " Shuffled, all n steps are certified together.",
        ),
        smooth="risk",
        order=r"O(nd)",
        cost="One pass; a projection at every batch.",
        when="On cubes with heavy tails when one pass must do; clipped gradients, with more "
        "passes, usually errs less.",
        pitfalls=("On a cube the diameter is √d times its side: at large d noise dominates.",),
        errata=(
            "The paper states it in an appendix that was not at hand; this is the simplest "
            "algorithm with that reduction.",
            "The first term of its row in Table 2 lacks the division by √n.",
        ),
        example=replace(ON_CUBE, methods=("sco.erm", "sco.clipped", "lp.euclidean-reduction")),
    ),
    Story(
        slug="lp.noisy-mirror-descent",
        what="Private SGD with a potential in place of the square: one pass over a random half of "
        "the records in secret order, one noisy gradient each, kinks allowed. The practical tuning "
        "compares potentials between the set's own and the Euclidean one and takes the one with "
        "the least bound. In moderate dimensions that is often the Euclidean one even on an ℓ₁ "
        "ball.",
        steps=(
            "Take the Lipschitz constant L of the losses in ℓ₂, after shrinking records if there "
            "is none.",
            r"Draw a fresh secret order of $m=\lfloor n/2\rfloor+1$ of the records.",
            r"For each: $\tilde g=g+\xi$, g clipped to L in ℓ₂, $\xi\sim N(0,\sigma^2I_d)$. Where "
            "mirror steps are searches, several noisy gradients are averaged before a step.",
            r"Step: $\arg\min_{w\in W}\eta\langle\tilde g,w\rangle+D_\Phi(w,w_t)$.",
            "Return the average of the points at which gradients were asked.",
        ),
        assumptions=(
            "Lipschitz losses; where the problem has none, records are shrunk into a ball first.",
            "A set on which a mirror step is known; on others the potential is the square.",
        ),
        privacy=Proof(
            sensitivity=r"A record enters one step, where it moves a gradient of ℓ₂ norm at most L "
            r"to another: by at most $\Delta_2=2L$. Isotropic noise needs the ℓ₂ norm, whatever "
            "the potential.",
            mechanism=r"Gaussian noise on every gradient: without amplification a record meets one "
            r"release of $\sigma=2L/\sqrt{2\rho}$; with it, the secret order hides it among the "
            "others (clones, evaluated exactly).",
            composition=r"A record's own step is the only one that it enters; everything after is "
            r"post-processing. Under $(\varepsilon,\delta)$ the account with less noise is used; "
            r"under zCDP each step has $\rho$.",
        ),
        smooth="no",
        order=r"O(nd)",
        cost="Half a pass; a mirror step, which may be a search, for every record.",
        when="On ℓ₁ balls with kinked losses, in high dimension, with very many records.",
        pitfalls=("Noise is added to every record's gradient, so it errs most at small n.",),
        errata=(
            "The paper leaves the potential and the shape of the noise open; here the noise is "
            "Gaussian for the ℓ₂ sensitivity.",
            "Its proof of privacy has the gaps of Private SGD; its noise is confirmed by "
            "amplification by shuffling.",
        ),
        example=replace(
            ON_L1,
            problem="hinge",
            methods=("sco.erm", "sco.private-sgd", "lp.noisy-mirror-descent"),
        ),
    ),
)
