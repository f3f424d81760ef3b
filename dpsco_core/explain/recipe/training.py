"""DP-SGD with a batch size, epochs and a model of one's own, as a script for Opacus."""

from dpsco_core.base.errors import require
from dpsco_core.base.parsing import one_of, real
from dpsco_core.explain.recipe.noise import Priced
from dpsco_core.explain.recipe.recipe import Recipe
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.poisson import DIRECTIONS, Neighbours

# The libraries that sample Poisson batches themselves.
TRAINERS = ("opacus",)
# What a neighbour does, for each kind of neighbours.
CHANGES: dict[Neighbours, str] = {
    "replace-one": "a record is replaced",
    "add-remove": "a record is added or removed",
}


def training_code(
    priced: Priced,
    *,
    batch: int,
    records: int,
    neighbours: Neighbours = "replace-one",
    max_grad_norm: float = 1.0,
) -> str:
    """Return a script that trains a model by DP-SGD with the noise of equal sampled releases.

    Parameters
    ----------
    priced : Priced
        The releases, a step each, on Poisson batches; see `noise_for` and `epsilon_of`.
    batch, records : int
        The expected number of records in a batch, and the number of all records.
    neighbours : {"replace-one", "add-remove"}
        The neighbours whose noise multiplier the script uses. The other one, if it is known,
        stands beside it.
    max_grad_norm : float
        The norm to which the gradient of a record is clipped, in [1e-150, 1e150].

    Raises
    ------
    InvalidInput
        If the batches are not Poisson samples, or the noise for these neighbours is not known.

    Examples
    --------
    >>> from dpsco_core.explain.recipe.noise import noise_for
    >>> sizes = {"batch": 600, "records": 60_000}
    >>> priced = noise_for(2.0, 1e-6, releases=1000, sampling="poisson", **sizes)
    >>> print(training_code(priced, **sizes).splitlines()[6])
    n, batch_size, steps = 60000, 600, 1000
    """
    require(priced.sampling == "poisson", "sampling", "poisson for this code", priced.sampling)
    one_of("neighbours", neighbours, tuple(DIRECTIONS))
    real("max_grad_norm", max_grad_norm, 1e-150, 1e150)
    multipliers: dict[Neighbours, float | None] = {
        "replace-one": priced.replace_one,
        "add-remove": priced.add_remove,
    }
    multiplier = multipliers[neighbours]
    priced_names = tuple(name for name, value in multipliers.items() if value is not None)
    require(
        multiplier is not None,
        "neighbours",
        f"{' or '.join(priced_names)} for this noise",
        neighbours,
    )
    alternatives = [
        f"# For the same budget where {CHANGES[name]}: noise_multiplier = {value!r}\n"
        for name, value in multipliers.items()
        if value is not None and name != neighbours
    ]
    guarantee = f"({priced.epsilon:.6g}, {priced.delta:g})-DP"
    return f"""\
# DP-SGD on Poisson batches, {guarantee} where {CHANGES[neighbours]}.
# For Opacus 1.6: pip install opacus
import torch
from opacus import PrivacyEngine
from torch.utils.data import DataLoader, TensorDataset

n, batch_size, steps = {records}, {batch}, {priced.releases}
epochs = steps * batch_size / n  # {priced.releases * priced.rate:.4g} passes over the records
noise_multiplier = {multiplier!r}  # {CHANGES[neighbours]}
{"".join(alternatives)}\
max_grad_norm = {float(max_grad_norm)!r}  # choose it without a look at your records
inputs = torch.randn(n, 8)  # put your features here, a row for each record
targets = torch.randint(0, 2, (n,))  # and your labels
model = torch.nn.Linear(8, 2)  # and your model, whose layers Opacus must support
loss_of = torch.nn.CrossEntropyLoss()  # a mean over the batch
engine = PrivacyEngine()
# Opacus takes each record with probability 1 / len(loader), which is at most batch_size / n.
model, optimizer, loader = engine.make_private(
    module=model,
    optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
    data_loader=DataLoader(TensorDataset(inputs, targets), batch_size=batch_size),
    noise_multiplier=noise_multiplier,
    max_grad_norm=max_grad_norm,
    poisson_sampling=True,
)
steps_taken = 0
while steps_taken < steps:
    for features, labels in loader:
        optimizer.zero_grad()
        loss_of(model(features), labels).backward()
        optimizer.step()
        steps_taken += 1
        if steps_taken == steps:
            break
print("epochs:", steps_taken * batch_size / n)
print("epsilon, add or remove:", engine.get_epsilon(delta={priced.delta!r}))"""


def budget_command(recipe: Recipe) -> str:
    """Return the command that prints code for a sampled recipe's budget, batch and epochs.

    It is empty for a recipe without Poisson batches, or under another budget than (epsilon, delta).
    """
    release, budget = recipe.main_release, recipe.budget
    is_sampled = release is not None and release.mechanism == "poisson gaussian"
    if not is_sampled or recipe.epochs is None or not isinstance(budget, ApproxDP):
        return ""
    return (
        f"dpsco budget --target-epsilon {budget.epsilon:g} --delta {budget.delta:g} "
        f"--records {recipe.records} --batch {recipe.batch} --epochs {recipe.epochs:.10g} "
        "--library opacus"
    )
