"""What the lessons say: plain words, one formula each at most; no measured number is in here."""

from dataclasses import dataclass

from dpsco_app.front.story import TITLE


@dataclass(frozen=True, kw_only=True)
class LessonWords:
    title: str
    text: str  # what is seen and why it matters, in Markdown
    question: str  # with one answer, which the run measures
    before: str  # the title of the figure before the run: what it shows already
    why: str  # the explanation that follows the answer, in Markdown


QUESTION = "What is this about?"
ANSWER = "Learning from people's data without giving anyone away, and what that costs"
INTRODUCTION = (
    "The subject is DP-SCO: differentially private stochastic convex optimization. Three doors "
    "lead in, and none needs any background."
)
# Where a door leads: its name, and what is behind it.
DOORS = {
    "why": (
        "A story in five minutes",
        f"{TITLE}. Scroll, and the picture follows.",
    ),
    "private-mean": (
        "A picture to play with",
        "How a private mean is made: drag the circle, and see where the error comes from.",
    ),
    "learn": (
        "Lessons",
        "Twelve short steps. In each, predict first, then run: the numbers are measured on "
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
        r"$P(|X|>t)\approx ct^{-2.5}$. The figure shows the largest record of a Gaussian sample "
        "as the sample grows.",
        question="How large is the largest of 10,000 heavy-tailed records in a typical sample? "
        "The largest Gaussian one is about 4.",
        before="The largest Gaussian record hardly grows with the sample",
        why="A hundred times more records hardly move the largest Gaussian one. The largest "
        "heavy-tailed one keeps growing, and a single record can move the average of everybody. "
        "That is bad for accuracy. It is worse for privacy, which has to hide every single record, "
        "the enormous ones included.",
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
        before="The sample mean: in how many samples its error exceeds x",
        why="The average error would not tell the two apart. Look at the right end, the bad luck: "
        "under heavy tails the sample mean is usually fine, and now and then far off. The cure is "
        "always to limit what a single record can do. Privacy will ask for the same.",
    ),
    "epsilon": LessonWords(
        title="Neighbours, and what ε means",
        text="A hundred people answer yes or no, and the share of “yes” is published with some "
        "noise added. Change one answer, yours, and you have a **neighbouring** data set. The "
        "lower figure shows how likely each published value is with either answer. "
        r"ε-differential privacy promises that the two heights differ nowhere by more than a "
        r"factor $e^{\varepsilon}$. Here ε = 1.",
        question="A spy knows the other 99 answers and sees what is published. In what percentage "
        "of cases does the spy guess your answer right? Tossing a coin gets 50 %.",
        before="How often is the spy right? Draw your prediction",
        why="Without noise the spy would always be right, and with ε = 1 a guess is still clearly "
        "better than a coin: privacy is a matter of degree. The promise holds against every spy, "
        "whatever else they know: whoever could only toss a coin before is right with a "
        r"probability of at most $e^{\varepsilon}/(1+e^{\varepsilon})$ after. One answer moves the "
        "share by at most 1/100, its **sensitivity**, and the size of the noise is the sensitivity "
        "divided by ε. Heavy-tailed records have no largest size, so their sensitivity has no "
        "limit either. Hence the next step.",
    ),
    "clipping": LessonWords(
        title="Clipping: bias against noise",
        text="To limit what one record can do, shrink every record that is longer than R to length "
        "R. This is **clipping**, and R is the clip radius. The smaller R, the more clipping "
        "distorts the average: its **bias**. The larger R, the larger the noise that hides one "
        "record: it is proportional to R/n. The figure shows the bias for 5,000 records in 20 "
        "dimensions at 14 radii: how far from the true mean clipping alone would leave the average "
        "of infinitely many records.",
        question="At the radius that is best for the private average, how many of the records are "
        "clipped?",
        before="The clipping bias: the smaller the radius, the larger the distortion",
        why="On the left the private average is off because clipping distorts it, on the right "
        "because the noise grows with the radius. A third part, sampling, is there without "
        "privacy, too. The squares of the three add up to the mean square of the error. The best "
        "radius shortens many records, and most of the noise goes with what it cuts off. But "
        "reading it off the data would leak something about them. The next step shows two ways "
        "around that.",
    ),
    "look": LessonWords(
        title="Choosing the radius: look, privately",
        text="Simple clipping computes its radius from n, d, ε and a bound on the moments: it "
        "never looks at the data, so it must be prepared for the worst data that the bound allows. "
        "Adaptive clipping spends a part of its privacy budget on a noisy count of how many "
        "records are longer than each radius, and picks one. The rest pays for the average. "
        "The curve is the error at each fixed radius, for records of the same law as before. It "
        "has more radii near the best one than the last step, so the best one may be another. "
        "A diamond marks a radius that a method chose itself.",
        question="How many times as large as that of the best fixed radius is the error of "
        "adaptive clipping?",
        before="The radius chosen without looking is larger than these data need",
        why="The lengths of the records cost little to learn about: a count changes by one when "
        "one record changes, so little noise hides it. Nobody may use the best radius in "
        "hindsight, which takes the error itself to find. Adaptive clipping comes close to it with "
        "part of the budget gone. Where the data are as bad as the moment bound allows, there is "
        "nothing to gain by looking.",
    ),
    "noise": LessonWords(
        title="Error against n",
        text="Now the data have four bounded moments (p = 4), and there are more and more records. "
        "Simple clipping takes the radius that suits each n. The grey line is the sample mean, "
        "without privacy. From 500 to 50,000 records, a hundred times more, its error falls by a "
        "factor of about ten: the law of the square root.",
        question="By what factor does the error of simple clipping fall?",
        before="Without privacy: a hundred times more records, about a tenth of the error",
        why="At one radius R the noise falls like R/n, a hundredfold here. But with more records "
        "the best R grows, in the end like $n^{1/p}$, so that privacy costs about "
        "$n^{-(1-1/p)}$. With p = 4 that is 32 times less. The measured fall is larger because R "
        "grows more slowly at these sizes: most of it is the length of an ordinary record, about "
        "√d, which does not depend on n. The formula describes only the part of R that grows. "
        "The figure includes the sampling error, which falls by a factor of about ten.",
    ),
    "free": LessonWords(
        title="When privacy is free",
        text="Now n = 50,000 is fixed, and ε grows from 0.05 (very private) to 10 (hardly "
        "private). The grey line is the sample mean, without privacy, which does not depend on ε. "
        "The error of simple clipping has two parts: one from the sample, one from the noise.",
        question="From which ε on is the error of simple clipping at most 10 % above the grey "
        "line?",
        before="Without privacy: the same error at every ε",
        why="The two parts add up like the sides of a right-angled triangle: once the noise is "
        "clearly the smaller one, it no longer counts. From there on privacy is free: the sample "
        "limits the accuracy, not ε. More records move that point to smaller ε.",
    ),
    "dimension": LessonWords(
        title="Dimension: Gaussian against Laplace noise",
        text="A record has d numbers, and each gets its share of the privacy budget. Under "
        "**pure** ε-DP the noise has a Laplace distribution, and budgets simply add up, so each "
        "share is ε/d. With a δ, a tiny probability of failure, the noise may be Gaussian, and "
        "squares of budgets add up, so each share is about ε/√d. Here n = 20,000 and ε = 1.",
        question="At d = 100, how many times as large as with Gaussian noise is the error with "
        "Laplace noise?",
        before="The error with Gaussian noise, and without privacy",
        why="Split over d numbers, Laplace noise grows like d in each of them, Gaussian noise like "
        "√d. In few dimensions Laplace noise is even the better one. In many, the difference "
        "decides: that is what δ is for.",
    ),
    "optimisation": LessonWords(
        title="From means to learning",
        text="A learning algorithm goes downhill along the gradient of the loss, and a gradient "
        "is a mean over the records. Whoever can estimate a mean privately can learn privately: "
        "this is **DP-SCO**, differentially private stochastic convex optimization. Here it is "
        "logistic regression with 100 weights. The grey line is the best fit without privacy. The "
        "dotted one uses no data at all, which is perfectly private: it answers 0.",
        question="With 500 records, which answer has the smallest risk?",
        before="Without privacy, and without any data (dotted)",
        why="The noise of every step adds to the answer, in each of the 100 weights. With few "
        "records it is hard to beat the answer 0, which is perfectly private. With many, clipped "
        "gradients come close to the grey line. The error is the expected loss on fresh data minus "
        "that of the best weights: the **excess risk**.",
    ),
    "geometry": LessonWords(
        title="Geometry: noise can be projected away",
        text="Often the answer is known to lie in a set. Weights of which only a few are large lie "
        "in an ℓ₁ ball, which has few sharp corners. Objective perturbation adds noise to the "
        "loss and finds the best point of the set. How much the noise can do there is the set's "
        r"**Gaussian width**: about $\sqrt{d}$ for the round ℓ₂ ball, only about $\sqrt{2\ln d}$ "
        "for the ℓ₁ ball.",
        question="Privacy adds to the risk. At d = 200, how many times smaller is that part on "
        "the ℓ₁ ball than on the ℓ₂ ball?",
        before="Without privacy on both balls, and objective perturbation on the ℓ₂ ball",
        why="Noise points in all directions at once. A set with few corners has hardly any room in "
        "most of them, so most of the noise has no effect. The same holds for the randomness of "
        "the sample, which is why the line without privacy is lower on the ℓ₁ ball as well. "
        "Compare what privacy adds, not the lines themselves. The set costs no privacy: it is "
        "known in advance.",
    ),
    "users": LessonWords(
        title="Users: hiding all that a person gave",
        text="Now each user has m records, called items, of d = 10 Gaussian numbers each, and a "
        "neighbouring data set replaces all items of one user. The error of a user's average falls "
        "with m, like 1/√m. **Clipped user gradients** clip each average to a ball of fixed size. "
        "**Filtered gradients** first find, privately, where most averages lie, drop the others, "
        "and add noise only as large as their spread. The dotted line is the answer 0, which uses "
        "no data.",
        question="With 10,000 users, d = 10 and ε = 1, from how many items per user on do filtered "
        "gradients have the smaller error?",
        before="Clipped user gradients: hiding a user takes the same noise at every m",
        why="Clipping to a fixed ball needs the same noise however good the averages are. Filtered "
        "gradients need noise that shrinks with m. But they must first test, privately, whether "
        "the averages agree, which needs many users. The dashboard's page Users maps which is "
        "better for which n, m and ε.",
    ),
    "lower-bound": LessonWords(
        title="Why no algorithm can do better",
        text="Is there a smarter algorithm? Hide a sign in every coordinate, and let it show only "
        "in rare, huge records. A private algorithm can hardly see a few records, so it has to "
        "guess many signs wrong, **whatever it does**. Fano's inequality and its sharper relatives "
        "prove this for every private algorithm: none has a mean error inside the shaded region. "
        "The data are that hard instance.",
        question="At n = 20,000, how many times as large as the proven limit is the error of "
        "simple clipping?",
        before="The proven limit. The grey line may enter the region: it is not private",
        why="The spikes are as rare as they can be while they still move the mean: rarer ones "
        "would not matter, and more frequent ones could be seen. The shaded region also binds "
        "algorithms that nobody has found yet. The gap between it and the best line is what is "
        "still unknown: a better algorithm, or a better proof. That was the path. Go on "
        "with the **curves**, where you can change all that was fixed here.",
    ),
}
