"""Every policy, registered by importing the modules that hold them."""

from kuberay_policies.catalogue import (
    autoscaling,
    cleanup,
    credentials,
    deadlines,
    exposure,
    image_policies,
    kueue,
    naming,
    operator_policies,
    operator_rules,
    placement,
    pod_security,
    pulumi_options,
    queues,
    quota,
    resources,
    rights,
    waivers,
)
from kuberay_policies.policy import POLICIES, find

__all__ = ["MODULES", "POLICIES", "find"]

MODULES = (
    cleanup,
    deadlines,
    autoscaling,
    kueue,
    queues,
    quota,
    exposure,
    pod_security,
    image_policies,
    credentials,
    resources,
    placement,
    naming,
    operator_policies,
    rights,
    pulumi_options,
    waivers,
    operator_rules,
)
"""The modules that hold policies."""

for _policy in sorted(POLICIES.values(), key=lambda policy: policy.id if policy.id.startswith("P") else "Q"):
    POLICIES[_policy.id] = POLICIES.pop(_policy.id)
