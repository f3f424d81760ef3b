"""What the lessons say: plain words, one formula each at most; no measured number is in here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class LessonWords:
    """The words of one lesson.

    Parameters
    ----------
    title : str
    text : str
        What is seen and why it matters, in Markdown.
    question : str
        With one answer, which the run measures.
    before : str
        The title of the figure before the run: what it shows already.
    why : str
        The explanation that follows the answer, in Markdown.
    """

    title: str
    text: str
    question: str
    before: str
    why: str


PICTURE = (
    "**How can the average of people's numbers be published without giving anyone away?** Shrink "
    "each record into a ball, take the average, and add noise that hides what any one record could "
    "do. Drag the circle, change n, ε or p, or put one record where it does most harm."
)

INTRODUCTION = (
    "Eleven short steps from heavy tails to the limits of every private algorithm. In each, "
    "**predict** first, then **run**: the numbers are measured while you watch."
)

WORDS: dict[str, LessonWords] = {
    "heavy-tails": LessonWords(
        title="What is a heavy tail?",
        text="Incomes, file sizes, insurance claims: most records are ordinary, and a few are "
        "enormous. Here are 10,000 records of each of two laws with the same mean, 0, and the same "
        "variance, 1. The heavy-tailed one even has more records near the middle. What sets it "
        "apart is how slowly large records become rare: like a power, "
        r"$P(|X|>t)\approx ct^{-2.5}$.",
        question="How large is the largest of 10,000 heavy-tailed records in a typical sample? "
        "The largest Gaussian one is about 4.",
        before="Here the heavy-tailed law looks like the tamer one: more of its records are near 0",
        why="A hundred times more records hardly move the largest Gaussian one, while the largest "
        "heavy-tailed one goes on growing. A single record can move the average of everybody. That "
        "is bad for accuracy. It is worse for privacy, which has to hide every single record, the "
        "enormous ones included.",
    ),
    "the-mean": LessonWords(
        title="The mean, and a sturdier one",
        text="The **median of means** cuts the sample into groups, averages each group, and takes "
        "the median of the averages. An enormous record spoils one group, and the median ignores "
        "it. The figure takes 200 samples of 1,000 heavy-tailed records (points in the plane) and "
        "shows in how many of them an estimate is off by more than x. There is no privacy yet.",
        question="Which of the two errs less: in a typical sample, and in the worst of a hundred?",
        before="The sample mean: in how many samples its error exceeds x",
        why="An average over all samples would not tell the two apart: look at the right end, the "
        "bad luck. Under heavy tails the sample mean is fine typically and far off now and then. "
        "The cure is always to limit what a single record can do. Privacy will ask for just that.",
    ),
    "epsilon": LessonWords(
        title="Neighbours, and what ε means",
        text="A hundred people answer yes or no, and the share of “yes” is published with some "
        "noise added. Turn one answer, yours, and you have a **neighbouring** data set. The two "
        "curves show what may be published for the one and for the other. ε-differential privacy "
        r"promises that their heights differ nowhere by more than a factor $e^{\varepsilon}$. Here "
        "ε = 1.",
        question="A spy knows the other 99 answers and sees what is published. In how many percent "
        "of all cases is the best guess of your answer right? A coin gets 50 %.",
        before="What may be published, with your “no” and with your “yes”: it hardly differs",
        why="Without noise the spy would always be right. The promise holds against every spy, "
        "whatever else he knows. One answer moves the share by at most 1/100, its **sensitivity**, "
        "and the noise is as large as that, divided by ε. Records of any size, as heavy tails have "
        "them, would need noise of any size. Hence the next step.",
    ),
    "clipping": LessonWords(
        title="Clipping: bias against noise",
        text="To limit what one record can do, shrink every record into a ball of radius R: "
        "**clipping**. It distorts the average, the more the smaller R is. And the noise that "
        "hides one record is as large as R/n. The figure shows 5,000 records in 20 dimensions, "
        "clipped at 14 radii, without any noise.",
        question="At the radius that is best for the private average, how many of the records are "
        "cut?",
        before="Clipping alone: the smaller the radius, the larger the distortion",
        why="To the left the private average errs since clipping distorts it, to the right since "
        "the noise is as large as the radius. The best radius gives up the few largest records, "
        "and with them most of the noise. It may not be read off the data, which would leak: the "
        "algorithms compute it from n, d, ε and what is known about the tail.",
    ),
    "noise": LessonWords(
        title="Error against n",
        text="Take four moments (p = 4), the radius that fits every n, and more and more records. "
        "The grey line is the mean without privacy. From 500 to 50,000 records, a hundred times "
        "more, its error falls about ten times: the law of the square root.",
        question="By how many times does the error of the private estimate fall?",
        before="Without privacy: a hundred times more records, about a tenth of the error",
        why="The noise falls like R/n, faster than the square root. But with more records the best "
        "radius R grows as well, in the end like $n^{1/p}$, and lets more of the tail in. So with "
        "very many records the cost of privacy falls like $n^{-(1-1/p)}$: between the square root "
        "and 1/n, and the lighter the tails, the faster. Here it falls faster still: most of R is "
        "the length of an ordinary record, which does not grow with n, and the rest is only "
        "beginning to. Privacy costs most where there are few records.",
    ),
    "free": LessonWords(
        title="When privacy is free",
        text="Now n = 50,000 stays, and ε grows from 0.05 (very private) to 10 (hardly). The grey "
        "line is the mean without privacy: it does not know of ε. The error of the private "
        "estimate has two parts: what is due to the sample, and what is due to the noise.",
        question="From which ε on is the private error at most 10 % above the grey line?",
        before="Without privacy: the same error at every ε",
        why="The two parts add up like the sides of a right-angled triangle: as soon as the noise "
        "is clearly the smaller one, it no longer counts. From there on privacy is free: the "
        "sample, not ε, limits the accuracy. More records move that point to smaller ε.",
    ),
    "dimension": LessonWords(
        title="Dimension: Gaussian against Laplace noise",
        text="A record has d numbers, and each gets its share of the budget. Under **pure** ε-DP "
        "the noise is Laplace's, and d shares of a budget are small. With a δ, a tiny probability "
        "of failure, it may be Gaussian, and budgets add up like squares. n = 20,000, ε = 1.",
        question="At d = 100, how many times the error with Gaussian noise is that with Laplace "
        "noise?",
        before="Without privacy: the error grows like √d",
        why="Split over d numbers, Laplace noise grows like d in each of them, Gaussian noise like "
        "√d. In few dimensions other terms hide the difference; in many it decides. That is what "
        "δ is for.",
    ),
    "optimisation": LessonWords(
        title="From means to learning",
        text="A learning algorithm goes downhill along the gradient of the loss, and a gradient "
        "is a mean over the records: whoever can estimate a mean in private can learn in private. "
        "Here: logistic regression with 100 weights. The grey line is the best fit without "
        "privacy. The dotted one uses no data at all, which is perfectly private: it answers 0.",
        question="With 500 records, which answer leaves the least risk?",
        before="Without privacy, and without any data (dotted)",
        why="The noise of every step adds to the answer, in each of the 100 weights. With few "
        "records even perfect privacy by silence is hard to beat; with many, clipped gradients "
        "come close to the grey line. The measure is the expected loss on fresh data, beyond that "
        "of the best weights: the **excess risk**.",
    ),
    "geometry": LessonWords(
        title="Geometry: noise can be projected away",
        text="Often the answer is known to lie in a set: weights that are few and large lie in an "
        "ℓ₁ ball, a cross with sharp corners. After the noise is added, the answer moves to the "
        "nearest point of the set. How much noise survives is the set's **Gaussian width**: like "
        r"$\sqrt{d}$ for the round ℓ₂ ball, only like $\sqrt{2\ln d}$ for the ℓ₁ ball.",
        question="At d = 200, how many times less risk is left on the ℓ₁ ball than on the ℓ₂ ball?",
        before="Without privacy, on the ℓ₁ ball and (dashed) on the ℓ₂ ball",
        why="Noise points in all directions at once. A set with few corners has hardly any room in "
        "most of them, and the step back to it takes the noise away. It costs no privacy: what is "
        "computed from a private answer stays private.",
    ),
    "users": LessonWords(
        title="Users: hiding all that a person gave",
        text="Now a user has m records, and a neighbour replaces all of them at once. The users' "
        "own averages get better with m, like 1/√m. Clipping each user's average, as so far, is "
        "the first line. The second method filters: it finds where most averages lie, and adds "
        "noise only as large as their spread.",
        question="From how many records per user on does the filter err less?",
        before="Clipped averages: hiding a user costs the same at every m",
        why="Clipping to a fixed ball adds the same noise however good the averages are. A filter "
        "makes the noise shrink with them, but has to test in private that the averages agree at "
        "all, which needs many users. Which is better depends on n, m and ε: the page Users draws "
        "the map.",
    ),
    "lower-bound": LessonWords(
        title="Why no algorithm can do better",
        text="Is there a smarter algorithm? Hide a sign in every coordinate, and let it show in "
        "rare, huge records only. A private algorithm can hardly see a few records, so it has to "
        "guess many signs wrong, **whatever it does**. This is proven with Fano's inequality and "
        "its sharper relatives, for every algorithm that is private: none gets into the shaded "
        "region. The data are that hard instance.",
        question="At n = 20,000, how many times the proven limit is the error of the best "
        "algorithm?",
        before="The proven limit. The grey line may enter: it is not private",
        why="The spikes are as rare as can be while still moving the mean: rarer ones would not "
        "matter, and more frequent ones could be seen. The shaded region binds algorithms that "
        "nobody has found yet. What lies between it and the best line is what is still unknown: "
        "a better algorithm, or a better proof.",
    ),
}
