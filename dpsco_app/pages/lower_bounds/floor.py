"""The proof of the floor on the data of the visit, in six lines with numbers."""

from dpsco_app.pages.lower_bounds.proof import ProofStep
from dpsco_app.pages.lower_bounds.words import brief
from dpsco_app.parts.options import budget_text
from dpsco_core.explain.floors import FloorProof


def floor_steps(proof: FloorProof) -> tuple[ProofStep, ...]:
    """Return the steps of the proof by the private van Trees inequality."""
    budget = budget_text(proof.budget)
    mirror = (
        "These data are symmetric, so compare the record with its mirror image, $2\\mu-x$: "
        if proof.symmetric
        else "Compare the record with another draw: "
    )
    return (
        ProofStep(
            name="The score of a record",
            reason="How much likelier would the record be if the mean were moved a little? The "
            "gradient of its log density in $\\mu$ is its *score* s. It has mean 0 and variance "
            f"λ = {brief(proof.information)} in each of the d = {proof.d} coordinates, so its "
            "typical length is $\\sqrt{d\\lambda}$. The proof follows how much an output "
            "tells of the sum of all scores.",
            number=brief(proof.score),
            unit="typical length of a score",
        ),
        ProofStep(
            name="What one record may reveal",
            reason=f"{mirror}privacy keeps the output's law nearly the same, although the score is "
            "another one. So a function h of the output (and of the other records) has "
            "$E\\langle h,s\\rangle\\le c\\sqrt\\lambda\\,\\sqrt{E\\|h\\|^2}$.",
            number=brief(proof.kappa),
            unit=f"c, at {budget}; 1 would be a record in full in one direction",
        ),
        ProofStep(
            name="Why the two costs add",
            reason="Let g be what the output tells of the sum of the scores. Ask of each record "
            "what g tells of it *once the other records are taken out*: at most c. Summed over the "
            "records this is $E\\|g\\|^2\\le G$ with "
            "$\\frac1G=\\frac1{n^2c^2\\lambda}+\\frac{n-1}{n^2d\\lambda}$: the price of "
            "privacy plus that of sampling. Without privacy the "
            f"records tell $nd\\lambda$ = {brief(proof.whole)}.",
            number=brief(proof.learnt),
            unit="G: what the output tells of the mean, at most",
        ),
        ProofStep(
            name="The prior",
            reason="Nature draws the mean from a law on the ball of radius "
            f"R = {brief(proof.radius)}, the norm of the mean of these data (or the public bound, "
            "if that is 0), that fades smoothly to 0 at the edge. Knowing it tells "
            "$J=4j^2/R^2$, with j the first zero of a Bessel function: no prior on the ball tells "
            "less.",
            number=brief(proof.prior),
            unit="J: what the prior tells",
        ),
        ProofStep(
            name="The sum",
            reason="Integrate by parts over the mean: for the error e and every smooth F, "
            "$E\\,\\mathrm{div}F(e)=E\\langle F(e),\\,g+\\nabla\\log\\pi\\rangle$. Whatever the "
            "algorithm does, its error moves with the mean, and it can only move along with what "
            "the output and the prior tell, $G+J$.",
            number=brief(proof.learnt + proof.prior),
            unit="G + J: all that can be known",
        ),
        ProofStep(
            name="The proven limit",
            reason="By Cauchy and Schwarz, with the best F for the mean error, it is at least "
            "$C_d/\\sqrt{G+J}$, where $d-\\frac12\\le C_d<d$. Sampling alone gives "
            f"{brief(proof.sampling)}, privacy alone {brief(proof.privacy)}; their squares add."
            + (
                f" Here two shifts of the mean give more: {brief(proof.two_shifts)}."
                if proof.two_shifts >= proof.value
                else ""
            ),
            number=brief(proof.value),
            unit="least mean error",
        ),
    )
