"""What the pods and the Job tell: which part a pod runs, whether it has ended, and what it waits for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kuberay_e2e.crash.indexed.manifests import INDEX_LABEL

_NO_IMAGE = ("ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "CreateContainerConfigError")


@dataclass(frozen=True)
class PartPod:
    """A pod of the Job.

    Attributes:
        name: Its name.
        uid: Its UID.
        created: When it was made, as Kubernetes writes times.
        part: Which part it runs, from 1.
        phase: `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
        code: Exit code of its container; None while it has none.
        disrupted: The cluster took it away, so that the Job makes another one.
        waiting: What it waits for, in Kubernetes' words; empty where it does not.
        no_image: It waits for an image that it cannot have.
    """

    name: str
    uid: str
    created: str
    part: int
    phase: str
    code: int | None = None
    disrupted: bool = False
    waiting: str = ""
    no_image: bool = False

    @property
    def ended(self) -> bool:
        """True where its log is whole."""
        return self.phase in ("Succeeded", "Failed")

    @classmethod
    def of(cls, pod: Mapping[str, Any]) -> "PartPod":
        """Read a pod."""
        meta, status = pod["metadata"], pod.get("status") or {}
        containers: Sequence[Mapping[str, Any]] = status.get("containerStatuses") or ()
        state = containers[0].get("state") or {} if containers else {}
        conditions = {entry["type"]: entry for entry in status.get("conditions") or ()}
        waiting, scheduled = state.get("waiting") or {}, conditions.get("PodScheduled") or {}
        said = ": ".join(filter(None, (waiting.get("reason"), waiting.get("message"))))
        if scheduled.get("status") == "False":
            said = ": ".join(filter(None, (scheduled.get("reason"), scheduled.get("message"))))
        return cls(
            meta["name"],
            meta["uid"],
            meta["creationTimestamp"],
            int(meta["labels"][INDEX_LABEL]) + 1,
            status.get("phase", "Pending"),
            (state.get("terminated") or {}).get("exitCode"),
            (conditions.get("DisruptionTarget") or {}).get("status") == "True",
            said,
            waiting.get("reason") in _NO_IMAGE,
        )


def end_of(job: Mapping[str, Any]) -> str:
    """How a Job ended, in Kubernetes' words, such as `Complete`; empty while it goes on."""
    for condition in (job.get("status") or {}).get("conditions") or ():
        if condition["type"] in ("Complete", "Failed") and condition["status"] == "True":
            said = (condition.get("reason"), condition.get("message"))
            return ": ".join(filter(None, (condition["type"], *said)))
    return ""
