"""Sentences that tests expect word for word: the only place that a change of wording has to reach.

A key says what its sentence is about. What a test needs only a number or a name of, it looks for in
the text itself, and not here.
"""

GOLDEN = {
    "no private algorithm is chosen": "Choose a private algorithm to see what privacy costs",
    "the pinned run is useless": "in the pinned run ignoring the data does better",
    "both runs are useless": "In both runs, ignoring the data does as well",
    "both data sets are useless": "On both data sets, ignoring the data does as well",
    "a gain over the sample mean": (
        "Less error than the sample mean on Student\N{NO-BREAK SPACE}t data,"
    ),
    "no chosen private algorithm can run": "No chosen private algorithm can run here",
    "methods run as printed": "Methods run as printed: the papers’ noise and parameters.",
    "an excess risk of 0": "Excess risk 0 in all 3 runs on Student t data.",
    "an excess risk instead of 0": "Excess risk 0.50 instead of 0 on Student t data.",
    "methods that can run under pure DP": "These can run under pure DP.",
    "no estimator is chosen": "Choose at least one estimator.",
    "a larger correlation, because": (
        "Because γ grew to 0.3, each further item of a user tells less:"
    ),
    "a class that does not bind": "smooth convex losses (does not bind here)",
    "a bound for directional moments": (
        "Simple clipping, proven mean error, for these directional moments"
    ),
    "a claim below a lower bound": "Refuted at your scenario: it is below a proven lower bound",
    "a claim that says nothing": "At your scenario the claim says nothing",
    "a claim that is no error": "At your scenario the claim is no error",
    "a claim refuted without a run": "Refuted without a run: it is below a proven lower bound",
    "a claim that cannot be read": "This claim cannot be read",
    "slopes at a point": "Slopes: At n = 1000 it is so.",
    "whose number the headline is": (
        "Best of the private algorithms chosen: coordinate-wise, Gaussian, against the "
        "non-private sample mean (n = 5,000, d = 20, ε = 1)."
    ),
    "the title of slopes": "**Slopes on Student t data**: error ∝ $n^{\\text{slope}}$",
    "an answer without data": "the error of one fixed answer, on the data of the column",
    "no measurement": "Not measured yet at these settings.",
    "a projection and its farthest point": (
        "x = (1.40, 0.20) goes to **P(x) = (1.00, 0.00)**, **0.447** away.\n\nThe farthest point "
        "in the direction of x is **(1.00, 0.00)**: the largest ⟨x, w⟩ in the set is **1.4**, "
        "the dual norm of x."
    ),
    "a prediction that is right": "You predicted **71 %**; the answer is **70 %**. Right.",
    "the question about a spy": "Can a spy tell whether your record was used?",
    "values of other methods": "Values at the same settings.",
    "no private method can run": "No private method for this problem can run at these settings",
    "noise costs most in a run": "Without noise the risk of this run would end 10 times lower",
    "clipping costs most in a run": (
        "Of two runs without noise, the unclipped one would end 9 times lower"
    ),
    "a run whose best end is 0": (
        "The run divides the risk by 10; without privacy it would end at the best possible"
    ),
    "columns and rows of a file": (
        "Columns: *size\\_1* and *pay*, 4,784 rows used, 16 left out, for example 'n/a' in "
        "column pay, line 12."
    ),
    "phases by items per user": "clipped user gradients up to m = 10, then filtered gradients",
    "too many numbers for the dashboard": (
        "n times d must be at most 2,000,000 for the dashboard, got n = 10,000 and d = 1,000."
    ),
    "no chosen optimiser can run": "No private optimiser that is chosen can run here",
    "no chosen estimator can run": "No private estimator that is chosen can run here",
    "an unknown size of type": "type must be one of normal, large, got type=huge.",
    "a statement outside its range": "The statement needs epsilon < 1, and epsilon=1.",
    "a study without methods": (
        "dpsco: methods must be at least one for a study, got methods=none.\n"
    ),
    "a full disk": "dpsco: The output cannot be written: No space left on device.\n",
    "a paper without experiments": (
        "The paper has no experiments: everything that is measured here is new."
    ),
    "rows of two columns": "283 rows used, 16 left out, for example 'n/a' in column pay, line 12.",
    "a row with a blank cell": (
        "299 rows used, 1 left out, for example a blank cell in column size, line 2."
    ),
    "no row is left out": "300 rows used, none left out.",
    "a unit with a sign": "size: Unit: the sign $ is left out, and the numbers are in that unit.",
    "numbers of one column": (
        "Used 284, left out 16 (15 marked as missing and 1 not a number), for example 'n/a' in "
        "line 12."
    ),
    "names in the first line": "Line 1 is read as the names of the columns: country, 2019, 2020.",
    "five papers without experiments": "None of the five papers has an experiments section.",
    "one item of many is hidden": "It hides one item, and a user has m=100 of them.",
    "Gaussian noise under pure DP, and a way out": (
        "Gaussian noise cannot give pure DP. Nearest: choose mean.cwme-pure, or set delta=1e-06."
    ),
    "Gaussian noise under pure DP": "Gaussian noise cannot give pure DP.",
    "an inequality in words": "the left side is at most the right side",
    "nothing to check": "None of it can be checked here.",
    "a check of neighbours": "largest move of 1 pair of neighbours",
    "the three verdicts on slopes": (
        "Steep: consistent with an upper bound; Inside: consistent with the rate; Flat: "
        "contradicts the rate if it persists"
    ),
    "a scenario that is no object": "scenario must be a JSON object, got scenario=[.",
}
