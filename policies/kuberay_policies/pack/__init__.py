"""The policies as a Pulumi policy pack."""

from kuberay_policies.pack.sdk_policies import policies
from kuberay_policies.pack.serving import serve

__all__ = ["policies", "serve"]
