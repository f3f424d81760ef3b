"""What the optimisers share: the check of their sample."""

from dpsco_core.base.errors import require
from dpsco_core.methods.mean.base import check_kind
from dpsco_core.problems.base import Setting
from dpsco_core.problems.samples.protocol import Sample


def check_sample(sample: Sample, setting: Setting) -> None:
    """Check that `sample` has the setting's size: a plan's sensitivity holds for that n and d."""
    check_kind("sample", sample, "gradients", "PointSample or LinearSample")
    require(sample.n == setting.n, "n", f"the number of records, {sample.n}", setting.n)
    require(sample.d == setting.d, "d", f"the dimension of the sample, {sample.d}", setting.d)
