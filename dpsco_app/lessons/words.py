"""The texts of the lessons: plain words, at most one formula each, and no measured number."""

from dataclasses import dataclass

from dpsco_app.front.story import TITLE


@dataclass(frozen=True, kw_only=True)
class LessonWords:
    title: str
    text: str  # What the figure shows and why it matters, in Markdown.
    question: str  # The question that the run answers.
    preview_title: str  # The title of the figure before the run.
    explanation: str  # The explanation that follows the answer, in Markdown.


QUESTION = "What is this about?"
ANSWER = "Learning from people's data without giving anyone away, and what that costs"
INTRODUCTION = (
    "The subject is DP-SCO: differentially private stochastic convex optimization. Three doors "
    "lead in, and none needs any background."
)
# The links on the first page: the name, the question it answers, and the page behind it.
DOORS = {
    "why": (
        "A story in five minutes",
        "Why do heavy tails make privacy expensive?",
        f"{TITLE}. Scroll, and the picture follows.",
    ),
    "private-mean": (
        "A picture to play with",
        "How is a private mean made?",
        "Drag the circle, and see where the error comes from.",
    ),
    "learn": (
        "Lessons",
        "Can you predict what privacy costs?",
        "Fifteen short steps. In each, predict first, then run: the numbers are measured on "
        "synthetic data while you watch.",
    ),
}
HOMEWORK = "This address opens the same step, without your answers."
HANDING_IN = (
    "The address of this page holds your predictions and your sentence; who opens it sees the "
    "measurements made again."
)

WORDS: dict[str, LessonWords] = {
    "heavy-tails": LessonWords(
        title="What is a heavy tail?",
        text="Incomes, file sizes, insurance claims: most records are ordinary, and a few "
        "are enormous. Take two distributions with mean 0 and variance 1: the Gaussian, and "
        "one with a **heavy tail**, in which large records become rare only slowly, like a "
        r"power of their size: $P(|X|>t)\approx ct^{-2.5}$. The figure shows how the largest "
        "record grows with the sample, for Gaussian records first.",
        question="How large is the largest of 10,000 heavy-tailed records in a typical sample? "
        "The largest Gaussian one is about 4.",
        preview_title="The largest Gaussian record hardly grows with the sample",
        explanation="A hundred times more records hardly move the largest Gaussian one. The "
        "largest heavy-tailed one keeps growing, and a single record can move the average of "
        "everybody. That is bad for accuracy. It is worse for privacy, which has to hide every "
        "single record, the enormous ones included.",
    ),
    "the-mean": LessonWords(
        title="The mean, and a sturdier one",
        text="The **median of means** cuts the sample into groups, averages each group, and "
        "takes the median of the averages. An enormous record spoils one group, and the "
        "median ignores it. Here are 200 samples of 1,000 heavy-tailed records each (points "
        "in the plane). The error of an estimate is its distance from the true mean, and the "
        "curve shows in how many samples it is larger than x. There is no privacy yet.",
        question="Which of the two has the smaller error in a typical sample? And which in the "
        "worst of a hundred?",
        preview_title="The sample mean: in how many samples its error exceeds x",
        explanation="The average error would not tell the two apart. Look at the right end, "
        "the bad luck: with heavy tails the sample mean is usually fine, and now and then far "
        "off. The cure is always to limit what a single record can do. Privacy will ask for "
        "the same.",
    ),
    "epsilon": LessonWords(
        title="Neighbours, and what ε means",
        text="A hundred people answer yes or no, and the share of “yes” is published with some "
        "noise added. Change one answer, yours, and you have a **neighbouring** data set. The "
        "lower figure shows how likely each published value is with either answer. "
        "ε-differential privacy promises that the two heights differ nowhere by more than a "
        r"factor $e^{\varepsilon}$. Here ε = 1.",
        question="A spy knows the other 99 answers and sees what is published. In what percentage "
        "of cases does the spy guess your answer right? Tossing a coin gets 50 %.",
        preview_title="How often is the spy right? Draw your prediction",
        explanation="Privacy is a matter of degree: without noise the spy would always be "
        "right. The promise holds against every spy, whatever else they know. One answer "
        "moves the share by at most 1/100, its **sensitivity**, and the size of the noise is "
        "the sensitivity divided by ε. Heavy-tailed records have no largest size: their "
        "average has no finite sensitivity. Hence the next step.",
    ),
    "clipping": LessonWords(
        title="Clipping: bias against noise",
        text="To limit what one record can do, shrink every record that is longer than R to "
        "length R. This is **clipping**, and R is the clip radius. The smaller R, the more "
        "clipping distorts the average: its **bias**, which the figure shows. The larger R, "
        "the larger the noise that hides one record: it is proportional to R/n. Here are n = "
        "5,000 records of 20 numbers each.",
        question="At the radius that is best for the private average, how many of the records are "
        "clipped?",
        preview_title="The clipping bias: the smaller the radius, the larger the distortion",
        explanation="A small radius distorts, a large one needs much noise. A third part of "
        "the error is there without privacy, too: the average of a sample is not the true "
        "mean. The best radius shortens many records, because the noise that this saves "
        "outweighs the bias that it adds. But reading that radius off the data would leak "
        "something about them. The next step shows two ways around that.",
    ),
    "look": LessonWords(
        title="Choosing the radius: look, privately",
        text="Simple clipping never looks at the data: it knows only a bound on their "
        "variance, and its radius is made for the worst data that this bound allows. Adaptive "
        "clipping spends a part of its **privacy budget**, the ε that it may use, on noisy "
        "counts of the records that are longer than each radius, and then picks one. The "
        "curve is the error at each fixed radius, with more radii near the best one than in "
        "the last step. A diamond marks a radius that a method chose itself.",
        question="The error of adaptive clipping is how many times that of the best fixed radius?",
        preview_title="The radius chosen without looking is larger than these data need",
        explanation="The lengths of the records cost little to learn about: a count changes "
        "by one when one record changes, so little noise hides it. Nobody may use the best "
        "radius in hindsight, but adaptive clipping comes close to it. Where the data are as "
        "bad as the bound on the variance allows, there is nothing to gain by looking.",
    ),
    "noise": LessonWords(
        title="Error against n",
        text="Now the tail is lighter: the fourth moment of the data is bounded (p = 4), and "
        "not only the second. Simple clipping takes the radius that suits each n. The grey "
        "line is the sample mean, without privacy. From 500 to 50,000 records, a hundred "
        "times more, its error falls by a factor of about ten: the law of the square root.",
        question="By what factor does the error of simple clipping fall?",
        preview_title="Without privacy: a hundred times more records, about a tenth of the error",
        explanation="At one radius R the noise falls like R/n, a hundredfold here. But with "
        "more records the best R grows, in the end like $n^{1/p}$, so that privacy costs "
        "about $n^{-(1-1/p)}$: with p = 4, a hundred times more records make that 32 times "
        "smaller. The measured fall is larger because R grows more slowly at these sizes: "
        "most of it is the length of an ordinary record, about √d for d numbers.",
    ),
    "free": LessonWords(
        title="When privacy is free",
        text="Now n = 50,000 is fixed, and ε grows from 0.05 (very private) to 10 (hardly "
        "private). The grey line is the sample mean, without privacy, which does not depend "
        "on ε. The error of simple clipping has two parts: one from the sample, one from the "
        "noise.",
        question="From which ε on is the error of simple clipping at most 10 % above the grey "
        "line?",
        preview_title="Without privacy: the same error at every ε",
        explanation="The two parts add up like the sides of a right-angled triangle: once the "
        "noise is clearly the smaller one, it no longer counts. From there on privacy is free: the "
        "sample limits the accuracy, not ε. More records move that point to smaller ε.",
    ),
    "dimension": LessonWords(
        title="Dimension: Gaussian against Laplace noise",
        text="The d numbers of a record share the privacy budget ε. Laplace noise keeps the "
        "promise of **pure** ε-DP; Gaussian noise may break it with a tiny probability **δ**, "
        "here 10⁻⁶.",
        question="At d = 100, the error with Laplace noise is how many times that with "
        "Gaussian noise?",
        preview_title="The error with Gaussian noise, and without privacy",
        explanation="Under pure ε-DP each number gets ε/d of the budget, so that Laplace "
        "noise grows like d in each number. With a δ each gets about ε/√d, and Gaussian noise "
        "grows like √d. In few dimensions Laplace noise is even the better one. In many, the "
        "difference decides: that is what δ is for. These are n = 20,000 records at ε = 1.",
    ),
    "optimisation": LessonWords(
        title="From means to learning",
        text="Learning goes downhill along the **gradient** of the loss, which is an average "
        "over the records: whoever averages privately learns privately. Here it finds the 100 "
        "weights of a logistic regression, and the **risk** is how much its expected loss "
        "exceeds the least possible.",
        question="With 500 records, which answer has the smallest risk: 0 without any data, "
        "or the one from private gradients, averaged number by number (coordinate-wise) or "
        "clipped as a whole?",
        preview_title="Without privacy, and without any data (dotted)",
        explanation="The noise of every step adds to the answer, in each of the 100 weights. "
        "With few records it is hard to beat the answer 0, which is perfectly private. With "
        "many, clipped gradients come close to the grey line, the best fit to the records "
        "without privacy (the risk minimiser). To minimise a loss of this kind privately is "
        "**DP-SCO**, differentially private stochastic convex optimization.",
    ),
    "geometry": LessonWords(
        title="Geometry: noise can be projected away",
        text="The weights must lie in a known set: the **ℓ₁ ball**, in which their sizes add "
        "up to at most a constant, or the round **ℓ₂ ball**, in which their squares do. "
        "**Objective perturbation** adds noise to the loss and returns the best point of the "
        "set.",
        question="At d = 200, how many times less risk does privacy add on the ℓ₁ ball than "
        "on the ℓ₂ ball?",
        preview_title="Without privacy on both balls, and objective perturbation on the ℓ₂ ball",
        explanation="The noise can do as much as the set is wide in a random direction: "
        r"about $\sqrt{d}$ for the ℓ₂ ball, only about $\sqrt{2\ln d}$ for the ℓ₁ ball. Its "
        "few sharp corners leave hardly any room in most directions, so most of the noise has "
        "no effect. The set costs no privacy: it is known in advance. The randomness of the "
        "sample is projected away, too: compare what privacy adds, not the lines themselves.",
    ),
    "users": LessonWords(
        title="Users: hiding all that a person gave",
        text="Now privacy hides all that a user gave: m records, called items. **Clipped "
        "user gradients** clip each user's average to a ball of fixed size; **filtered "
        "gradients** find privately where most averages lie, drop the others, and add noise "
        "only as large as their spread.",
        question="There are 20,000 users. From how many items per user on do filtered "
        "gradients have the smaller error?",
        preview_title="Clipped user gradients: hiding a user takes the same noise at every m",
        explanation="A user's average varies less the more items it has, but a fixed ball "
        "needs the same noise however good the averages are. Filtered gradients need noise "
        "that shrinks like 1/√m, but pay for the private test at every m. A phone's keyboard "
        "sees thousands of words: there they win clearly. Here d = 5 and ε = 1.",
    ),
    "lower-bound": LessonWords(
        title="Why no algorithm can do better",
        text="Is there a smarter algorithm? Give every coordinate of the mean a secret sign, "
        "+ or −, that shows only in rare, huge records. A private algorithm can hardly see a "
        "few records, so it has to guess many signs wrong, **whatever it does**. That is "
        "proven: no private algorithm has a mean error inside the shaded region. The data "
        "here are that hard case.",
        question="At n = 20,000, the error of simple clipping is how many times the proven limit?",
        preview_title="The proven limit. The grey line may enter the region: it is not private",
        explanation="The huge records are as rare as they can be while they still move the "
        "mean: rarer ones would not matter, and more frequent ones could be seen. The region "
        "also binds algorithms that nobody has found yet. Whether the gap between it and the "
        "best line can be closed by a better algorithm or by a better proof is not known.",
    ),
    "packing": LessonWords(
        title="A lower bound by hand",
        text="That no private algorithm can do better is proven by a game. The true mean is "
        "one of **four candidates**, the black points. Of 1,000 records, 993 are 0 whichever "
        "candidate it is: only the other **seven** differ. The star is the average of the "
        "records with Gaussian noise that hides each record (ρ-zCDP with ρ = 0.01: see "
        "“Budgets that add”). Whoever estimates the mean well can name the candidate.",
        question="Ten rounds follow, each with a new secret candidate. The first is in the "
        "figure: click there or choose here. Which candidate is the best guess?",
        preview_title="Four candidates, and the private average of the first round",
        explanation="Candidates that are far apart, although few records tell them apart, "
        "are a **packing**. Seven records do so here, and to hide seven together multiplies ρ "
        r"by 7² (**group privacy**): at most $7^2\rho$ nats about the name are published (1 nat "
        "is 1.44 bits). By **Fano's inequality**, whoever learns so little must often be "
        "wrong. With d numbers per record there are $2^d$ candidates, and nearly every guess "
        "is wrong. Few of them lie close to any one answer, so the true mean is usually far "
        "away: no private algorithm can avoid that error.",
    ),
    "budgets": LessonWords(
        title="Budgets that add",
        text="Learning publishes hundreds of noisy averages, not one. **zCDP** "
        "(zero-concentrated differential privacy) gives each a price: with Gaussian noise σ "
        "times as large as what one record can change, it is ρ = 1/(2σ²). Prices add up, and "
        "only their sum is turned into an ε. Here each release has ρ = 0.001. The line in the "
        "figure does it the other way round: it turns each ρ into an ε and adds those.",
        question="If ρ is added up first, how large is the ε of 100 releases, at δ = 10⁻⁶?",
        preview_title="An ε for each release, added up: a hundred releases look hopeless",
        explanation="What a spy learns from one release is partly luck, and the luck of k "
        "releases partly cancels: it grows like √k, as a random walk does. Adding an ε for "
        "each takes every step as one in the worst direction. ρ is half the variance of a "
        "step, and variances add. So the methods here divide a ρ among their steps.",
    ),
    "attacker": LessonWords(
        title="One curve, four numbers",
        text="What does ε = 1 mean for one person? A hundred people answer yes or no, and "
        "the share of yes is published with Gaussian noise for ε = 1 and δ = 10⁻⁶. A spy "
        "knows all answers but one: it is that of a **member**, who says yes, or of somebody "
        "else, who says no. The spy accuses where the share is high, and sets the threshold "
        "so that one of 100 others is accused by mistake, a **false alarm**.",
        question="At ε = 1 the spy accuses 1 of 100 others. Which share of the members is missed?",
        preview_title="Blind guessing: who accuses few others misses nearly all members",
        explanation="An attacker errs in two ways, and can only trade one error for the "
        "other. For every share x of false alarms there is a least share f(x) of misses: the "
        "**trade-off curve**. It holds all that a mechanism gives away. ε and δ are one of "
        r"its tangents, $f(x)\ge1-\delta-e^\varepsilon x$; for Gaussian noise it is "
        r"$f(x)=\Phi(\Phi^{-1}(1-x)-\mu),\ \mu=\sqrt{2\rho}$, with the normal distribution "
        "function Φ. So ε, δ, ρ and μ are four readings of one curve. That was the path: go "
        "on with **Explore**.",
    ),
}
