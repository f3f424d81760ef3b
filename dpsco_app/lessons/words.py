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
        text="Incomes, file sizes, insurance claims: most records are ordinary, and a few are "
        "enormous. Take two laws with the same mean, 0, and the same variance, 1: the Gaussian and "
        "a heavy-tailed one. In a heavy tail, large records become rare only slowly, like a power: "
        r"$P(|X|>t)\approx ct^{-2.5}$. How does the largest record grow with the sample? "
        "The figure begins with a Gaussian one.",
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
        text="The **median of means** cuts the sample into groups, averages each group, and takes "
        "the median of the averages. An enormous record spoils one group, and the median ignores "
        "it. The figure takes 200 samples of 1,000 heavy-tailed records (points in the plane). It "
        "shows in how many samples the error of an estimate is larger than x. There is no privacy "
        "yet.",
        question="Which of the two has the smaller error in a typical sample? And which in the "
        "worst of a hundred?",
        preview_title="The sample mean: in how many samples its error exceeds x",
        explanation="The average error would not tell the two apart. Look at the right end, the "
        "bad luck: under heavy tails the sample mean is usually fine, and now and then far off. "
        "The cure is always to limit what a single record can do. Privacy will ask for the same.",
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
        explanation="Privacy is a matter of degree: without noise the spy would always be right. "
        "The promise holds against every spy, whatever else they know. One answer moves the share "
        "by at most 1/100, its **sensitivity**, and the size of the noise is the sensitivity "
        "divided by ε. Heavy-tailed records have no largest size, so their sensitivity has no "
        "limit. Hence the next step.",
    ),
    "clipping": LessonWords(
        title="Clipping: bias against noise",
        text="To limit what one record can do, shrink every record that is longer than R to length "
        "R. This is **clipping**, and R is the clip radius. The smaller R, the more clipping "
        "distorts the average: its **bias**, which the figure shows. The larger R, the larger "
        "the noise that hides one record: it is proportional to R/n. Here are 5,000 records "
        "in 20 dimensions.",
        question="At the radius that is best for the private average, how many of the records are "
        "clipped?",
        preview_title="The clipping bias: the smaller the radius, the larger the distortion",
        explanation="A small radius distorts, a large one needs much noise. A third part, "
        "sampling, is there without privacy, too. The best radius shortens many records, and most "
        "of the noise goes with what it cuts off. But reading that radius off the data would leak "
        "something about them. The next step shows two ways around that.",
    ),
    "look": LessonWords(
        title="Choosing the radius: look, privately",
        text="Simple clipping never looks at the data: its radius is made for the worst data that "
        "the moment bound allows. Adaptive clipping spends a part of its privacy budget on a "
        "noisy count of how many records are longer than each radius, and picks one. The "
        "curve is the error at each fixed radius, with more radii near the best one than in "
        "the last step. A diamond marks a radius that a method chose itself.",
        question="How many times as large as that of the best fixed radius is the error of "
        "adaptive clipping?",
        preview_title="The radius chosen without looking is larger than these data need",
        explanation="The lengths of the records cost little to learn about: a count changes by one "
        "when one record changes, so little noise hides it. Nobody may use the best radius in "
        "hindsight, but adaptive clipping comes close to it. Where the data are as bad as the "
        "moment bound allows, there is nothing to gain by looking.",
    ),
    "noise": LessonWords(
        title="Error against n",
        text="Now the data have four bounded moments (p = 4), and there are more and more records. "
        "Simple clipping takes the radius that suits each n. The grey line is the sample mean, "
        "without privacy. From 500 to 50,000 records, a hundred times more, its error falls by a "
        "factor of about ten: the law of the square root.",
        question="By what factor does the error of simple clipping fall?",
        preview_title="Without privacy: a hundred times more records, about a tenth of the error",
        explanation="At one radius R the noise falls like R/n, a hundredfold here. But with more "
        "records the best R grows, in the end like $n^{1/p}$, so that privacy costs about "
        "$n^{-(1-1/p)}$: with p = 4 that is 32 times less. The measured fall is larger "
        "because R grows more slowly at these sizes: most of it is the length of an ordinary "
        "record, about √d.",
    ),
    "free": LessonWords(
        title="When privacy is free",
        text="Now n = 50,000 is fixed, and ε grows from 0.05 (very private) to 10 (hardly "
        "private). The grey line is the sample mean, without privacy, which does not depend on ε. "
        "The error of simple clipping has two parts: one from the sample, one from the noise.",
        question="From which ε on is the error of simple clipping at most 10 % above the grey "
        "line?",
        preview_title="Without privacy: the same error at every ε",
        explanation="The two parts add up like the sides of a right-angled triangle: once the "
        "noise is clearly the smaller one, it no longer counts. From there on privacy is free: the "
        "sample limits the accuracy, not ε. More records move that point to smaller ε.",
    ),
    "dimension": LessonWords(
        title="Dimension: Gaussian against Laplace noise",
        text="A record has d numbers, and they share the privacy budget. Under **pure** ε-DP the "
        "noise has a Laplace distribution, and each number gets ε/d. With a δ, a tiny "
        "probability of failure, the noise may be Gaussian, and each number gets about ε/√d. "
        "Here n = 20,000 and ε = 1.",
        question="At d = 100, how many times as large as with Gaussian noise is the error with "
        "Laplace noise?",
        preview_title="The error with Gaussian noise, and without privacy",
        explanation="Laplace noise grows like d in each number, Gaussian noise like √d. In few "
        "dimensions Laplace noise is even the better one. In many, the difference decides: that is "
        "what δ is for.",
    ),
    "optimisation": LessonWords(
        title="From means to learning",
        text="Learning goes downhill along the gradient of the loss, and a gradient is a mean over "
        "the records. Whoever can estimate a mean privately can learn privately: this is "
        "**DP-SCO**, differentially private stochastic convex optimization. Here it is "
        "logistic regression with 100 weights. The dotted line ignores the data and answers "
        "0.",
        question="With 500 records, which answer has the smallest risk?",
        preview_title="Without privacy, and without any data (dotted)",
        explanation="The noise of every step adds to the answer, in each of the 100 weights. With "
        "few records it is hard to beat the answer 0, which is perfectly private. With many, "
        "clipped gradients come close to the grey line.",
    ),
    "geometry": LessonWords(
        title="Geometry: noise can be projected away",
        text="Often the answer is known to lie in a set. Weights of which only a few are large lie "
        "in an ℓ₁ ball, which has few sharp corners. Objective perturbation adds noise to the "
        "loss and finds the best point of the set. The noise can do as much as the set is "
        r"wide: about $\sqrt{d}$ for the round ℓ₂ ball, only about $\sqrt{2\ln d}$ for the ℓ₁ "
        "ball.",
        question="Privacy adds to the risk. At d = 200, how many times smaller is that part on "
        "the ℓ₁ ball than on the ℓ₂ ball?",
        preview_title="Without privacy on both balls, and objective perturbation on the ℓ₂ ball",
        explanation="Noise points in all directions at once. A set with few corners has hardly any "
        "room in most of them, so most of the noise has no effect. The set costs no privacy: it is "
        "known in advance. The randomness of the sample is projected away, too: compare what "
        "privacy adds, not the lines themselves.",
    ),
    "users": LessonWords(
        title="Users: hiding all that a person gave",
        text="Now privacy hides all that a user gave: m records, called items. A user's average "
        "varies less the more items it has. **Clipped user gradients** ignore this and clip "
        "each average to a ball of fixed size. **Filtered gradients** first find, privately, "
        "where most averages lie, drop the others, and add noise only as large as their "
        "spread.",
        question="With 20,000 users, d = 5 and ε = 1, from how many items per user on do filtered "
        "gradients have the smaller error?",
        preview_title="Clipped user gradients: hiding a user takes the same noise at every m",
        explanation="A fixed ball needs the same noise however good the averages are. Filtered "
        "gradients need noise that shrinks like 1/√m, but pay for the private test at every m. A "
        "phone's keyboard sees thousands of words: there they win clearly.",
    ),
    "lower-bound": LessonWords(
        title="Why no algorithm can do better",
        text="Is there a smarter algorithm? Hide a sign in every coordinate, and let it show only "
        "in rare, huge records. A private algorithm can hardly see a few records, so it has "
        "to guess many signs wrong, **whatever it does**. That is proven: no private "
        "algorithm has a mean error inside the shaded region. The data are that hard case.",
        question="At n = 20,000, how many times as large as the proven limit is the error of "
        "simple clipping?",
        preview_title="The proven limit. The grey line may enter the region: it is not private",
        explanation="The spikes are as rare as they can be while they still move the mean: rarer "
        "ones would not matter, and more frequent ones could be seen. The region also binds "
        "algorithms that nobody has found yet. The gap between it and the best line is still "
        "unknown: a better algorithm, or a better proof.",
    ),
    "packing": LessonWords(
        title="A lower bound by hand",
        text="A proof that no private algorithm does better can be played by hand. The true mean "
        "is one of **four candidates**, the black points. Of 1,000 records, 993 are 0 "
        "whichever candidate it is: only the other **seven** differ. The star is the average "
        "of the records, published with noise (ρ-zCDP with ρ = 0.01). Whoever estimates the "
        "mean well can name the candidate.",
        question="Ten rounds follow, each with a new secret candidate. The first is in the "
        "figure: click there or choose here. Which candidate is the best guess?",
        preview_title="Four candidates, and the private average of the first round",
        explanation="Another candidate changes only seven records, and privacy hides them: what is "
        "published holds at most $7^2\\rho$ nats of information about the name (group privacy). "
        "**Fano's inequality** says that whoever learns so little must often be wrong. With d "
        "numbers per record there are $2^d$ candidates, and nearly every guess is wrong. Only a "
        "few of them lie close to any one answer, so the true mean is usually far away: that "
        "distance is the error no private algorithm can avoid.",
    ),
    "budgets": LessonWords(
        title="Budgets that add",
        text="Learning publishes hundreds of noisy averages, not one. **zCDP** (zero-concentrated "
        "differential privacy) gives each a price: with Gaussian noise σ times as large as what "
        "one record can change, it is ρ = 1/(2σ²). Prices add up, and only the sum is turned into "
        "an ε. Here each release has ρ = 0.001; the line adds an ε for each instead.",
        question="If ρ is added up first, how large is the ε of 100 releases, at δ = 10⁻⁶?",
        preview_title="An ε for each release, added up: a hundred releases look hopeless",
        explanation="What a spy learns from one release is partly luck, and the luck of many "
        "cancels: it grows like √k, as a random walk does. Adding an ε for each takes every step "
        "as one in the worst direction. ρ is half the variance of a step, and variances add. So "
        "the methods here divide a ρ among their steps.",
    ),
    "attacker": LessonWords(
        title="One curve, four numbers",
        text="What does ε = 1 mean for one person? A hundred people answer yes or no, and the "
        "share of yes is published with Gaussian noise that is (1, 10⁻⁶)-DP. A spy knows all "
        "answers but one: it is that of a **member**, who says yes, or of somebody else, who says "
        "no. The spy accuses where the share is high, and sets the threshold so that one of 100 "
        "others is accused.",
        question="At ε = 1 the spy accuses 1 of 100 others. Which share of the members is missed?",
        preview_title="Blind guessing: who accuses few others misses nearly all members",
        explanation="An attacker errs in two ways, and can only trade one error for the other. For "
        "every share x of false alarms there is a least share f(x) of misses: the **trade-off "
        "curve**. It holds all that a mechanism gives away. ε and δ are one of its tangents, "
        "$f(x)\\ge1-\\delta-e^\\varepsilon x$; of Gaussian noise it is "
        "$f(x)=\\Phi(\\Phi^{-1}(1-x)-\\mu),\\ \\mu=\\sqrt{2\\rho}$. So ε, δ, ρ and μ are four "
        "readings of one curve. That was the path: go on with **Explore**.",
    ),
}
