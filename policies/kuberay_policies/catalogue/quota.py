"""The policy that a queue has quota for the jobs it is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from kuberay_model.rules.values import integer, items, mapping, text
from kuberay_model.sentences import listed, nearest
from kuberay_policies.catalogue.kueue import QUEUE_PATH, queue
from kuberay_policies.policy import Family, Parameters, Problem, Severity, policy
from kuberay_policies.quantities import Amounts, amounts, quantity, shown, total
from kuberay_policies.stack import KUEUE_GROUP, Context
from kuberay_policies.targets import Cluster, ContainerKind, Pod, Role, Scope

SUBMITTER = amounts({"cpu": "500m", "memory": "200Mi"})
"""What Kueue counts for the submitter that the operator makes up (`getSubmitterTemplate` of Kueue)."""


@dataclass(frozen=True)
class PodSet:
    """Equal Pods of a workload.

    Attributes:
        title: The Pods in a sentence.
        count: How many there are.
        pod: What one of them requests.
    """

    title: str
    count: int
    pod: Amounts

    @property
    def all(self) -> Amounts:
        """What all of them request."""
        return {name: amount * self.count for name, amount in self.pod.items()}


@dataclass(frozen=True)
class Quota:
    """What a ClusterQueue can give of a resource.

    Attributes:
        by_flavor: Amount by flavor, what may be borrowed included; None if it is unlimited.
    """

    by_flavor: Mapping[str, Fraction | None]

    def largest(self) -> Fraction | None:
        """Return the most that one flavor gives."""
        found = [amount for amount in self.by_flavor.values() if amount is not None]
        return None if len(found) < len(self.by_flavor) else max(found, default=Fraction(0))

    def sum(self) -> Fraction | None:
        """Return what all flavors give together."""
        found = [amount for amount in self.by_flavor.values() if amount is not None]
        return None if len(found) < len(self.by_flavor) else sum(found, Fraction(0))


def requests(pod: Pod) -> Amounts:
    """Return what a Pod requests as the scheduler counts: the largest of init containers and of all others."""
    running: list[Amounts] = []
    starting: list[Amounts] = []
    for container in pod.containers:
        wanted = amounts(container.amounts("requests"))
        always = container.kind is not ContainerKind.INIT or container.fields.get("restartPolicy") == "Always"
        (running if always else starting).append(wanted)
    result = total(running)
    for wanted in starting:
        for name, amount in wanted.items():
            result[name] = max(amount, result.get(name, Fraction(0)))
    return total([result, amounts(mapping(pod.spec.get("overhead")))])


def pod_sets(cluster: Cluster) -> Iterator[PodSet]:
    """Yield the pod sets that Kueue makes of a RayJob or a RayCluster."""
    yield PodSet("the head", 1, requests(cluster.head.pod))
    for group in cluster.workers:
        replicas, hosts = (integer(group.fields.get(name)) for name in ("replicas", "numOfHosts"))
        name = text(group.fields.get("groupName"))
        yield PodSet(f"worker group {name!r}", (replicas or 0) * max(hosts or 1, 1), requests(group.pod))
    job = cluster.job
    if job is not None and job.mode == "K8sJobMode":
        template = job.fields.get("submitterPodTemplate")
        path = f"{job.path}.submitterPodTemplate"
        pod = None if template is None else Pod(cluster.subject, mapping(template), path, Role.SUBMITTER)
        yield PodSet("the submitter", 1, SUBMITTER if pod is None else requests(pod))


@policy(
    "P212",
    "quota-covers-job",
    "The ClusterQueue can give what the object requests",
    family=Family.KUEUE,
    scope=Scope.CLUSTER,
    severity=Severity.ERROR,
    kinds=frozenset({"RayJob", "RayCluster"}),
    stack_wide=True,
    why="A workload that never fits waits for ever without an error: a resource that the ClusterQueue does not "
    "cover, such as a GPU under another name, or more of it than the quota, what can be borrowed included. "
    "Counted are the head, replicas x numOfHosts Pods of each worker group, and the submitter in K8sJobMode.",
    sources=("kueue#12454", "kueue#3729"),
)
def quota_covers_job(cluster: Cluster, _: Parameters, context: Context) -> Iterator[Problem]:
    """Compare what is requested with the quota of the queue, if the queue is among the checked objects."""
    name = queue(cluster.subject)
    selects = cluster.job is not None and cluster.job.selects_cluster
    quotas = None if not name or selects else _quotas(context, name, text(cluster.subject.metadata.get("namespace")))
    if quotas is None:
        return
    queue_name, covered = quotas
    sets = list(pod_sets(cluster))
    wanted = total(part.all for part in sets)
    for resource in sorted(name for name, amount in wanted.items() if amount):
        if resource not in covered:
            similar = nearest(resource, [known for known in covered if "/" in known])
            yield Problem(
                QUEUE_PATH,
                f"The job requests {resource}, which the ClusterQueue {queue_name} does not cover: it covers "
                f"{listed(sorted(covered)) if covered else 'nothing'}.",
                f"Did you mean {similar}?" if similar else "Cover it in the ClusterQueue, or do not request it.",
            )
            continue
        yield from _too_much(resource, sets, wanted[resource], covered[resource], queue_name)


def _too_much(resource: str, sets: list[PodSet], wanted: Fraction, quota: Quota, queue_name: str) -> Iterator[Problem]:
    most, most_of_one = quota.sum(), quota.largest()
    if most is not None and wanted > most:
        parts = listed(f"{part.title} {shown(resource, part.all[resource])}" for part in sets if part.all.get(resource))
        yield Problem(
            QUEUE_PATH,
            f"The job requests {shown(resource, wanted)} {resource} ({parts}), and the ClusterQueue {queue_name} "
            f"can give {shown(resource, most)}.",
            "Request less, or raise the quota.",
        )
        return
    for part in sets:
        amount = part.all.get(resource, Fraction(0))
        if most_of_one is not None and amount > most_of_one:
            yield Problem(
                QUEUE_PATH,
                f"All Pods of {part.title} get one flavor. They request {shown(resource, amount)} {resource}, and "
                f"no flavor of the ClusterQueue {queue_name} gives more than {shown(resource, most_of_one)}.",
                "Split the worker group, or raise the quota of a flavor.",
            )


def _quotas(context: Context, queue_name: str, namespace: str) -> tuple[str, dict[str, Quota]] | None:
    local = context.stack.named(KUEUE_GROUP, "LocalQueue", queue_name, namespace)
    if local is None:
        return None
    name = text(mapping(local.subject.manifest.get("spec")).get("clusterQueue"))
    found = context.stack.named(KUEUE_GROUP, "ClusterQueue", name)
    if found is None:
        return None
    spec = mapping(found.subject.manifest.get("spec"))
    lent = _cohort(context, _cohort_name(spec))
    quotas: dict[str, dict[str, Fraction | None]] = {}
    for flavor, resource, nominal, limit in _entries(spec):
        if lent is None or limit == 0:
            amount: Fraction | None = nominal
        else:
            others = lent.get((flavor, resource), nominal) - nominal
            amount = nominal + (others if limit is None else min(others, limit))
        quotas.setdefault(resource, {})[flavor] = amount
    if _cohort_name(spec) and _has_cohort_objects(context):
        quotas = {resource: dict.fromkeys(flavors) for resource, flavors in quotas.items()}
    return name, {resource: Quota(flavors) for resource, flavors in quotas.items()}


def _entries(spec: Mapping[str, Any]) -> Iterator[tuple[str, str, Fraction, Fraction | None]]:
    for group in items(spec.get("resourceGroups")):
        for flavor in items(mapping(group).get("flavors")):
            for resource in items(mapping(flavor).get("resources")):
                fields = mapping(resource)
                nominal = quantity(fields.get("nominalQuota")) or Fraction(0)
                limit = quantity(fields.get("borrowingLimit"))
                yield text(mapping(flavor).get("name")), text(fields.get("name")), nominal, limit


def _cohort_name(spec: Mapping[str, Any]) -> str:
    return text(spec.get("cohortName")) or text(spec.get("cohort"))


def _cohort(context: Context, cohort: str) -> dict[tuple[str, str], Fraction] | None:
    """Return nominal quotas of a cohort by flavor and resource, None without a cohort."""
    if not cohort:
        return None
    sums: dict[tuple[str, str], Fraction] = {}
    for parts in context.stack.of_kind(KUEUE_GROUP, "ClusterQueue"):
        spec = mapping(parts.subject.manifest.get("spec"))
        if _cohort_name(spec) == cohort:
            for flavor, resource, nominal, _ in _entries(spec):
                sums[flavor, resource] = sums.get((flavor, resource), Fraction(0)) + nominal
    return sums


def _has_cohort_objects(context: Context) -> bool:
    """Tell whether quota may come from Cohort objects, which form trees."""
    return bool(context.stack.of_kind(KUEUE_GROUP, "Cohort"))
