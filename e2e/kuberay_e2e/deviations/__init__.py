"""Known deviations: where a released version falls short of what its users are promised.

One YAML file per version of KubeRay or Kueue, below this package. A broken promise that is not listed fails a run, and
so does a listed deviation that no longer happens, so that the list stays true.
"""

from kuberay_e2e.deviations.catalogue import Deviation, Deviations, Occurrence
from kuberay_e2e.deviations.judgement import judge

__all__ = ["Deviation", "Deviations", "Occurrence", "judge"]
