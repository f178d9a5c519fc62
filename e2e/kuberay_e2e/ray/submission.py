"""The body of a submission, checked as Ray checks it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_NUMBERS = ("entrypoint_num_cpus", "entrypoint_num_gpus")
_KNOWN = frozenset(
    {
        "entrypoint",
        "submission_id",
        "job_id",
        "runtime_env",
        "metadata",
        "entrypoint_num_cpus",
        "entrypoint_num_gpus",
        "entrypoint_memory",
        "entrypoint_resources",
    }
)


@dataclass(frozen=True)
class JobSubmitRequest:
    """A submission that Ray would take, with the fields of Ray's own request.

    Upstream: `ray.dashboard.modules.job.common.JobSubmitRequest` of Ray 2.52.
    """

    entrypoint: str
    submission_id: str | None
    runtime_env: Mapping[str, Any] | None
    metadata: Mapping[str, str] | None

    @classmethod
    def parse(cls, document: object) -> "JobSubmitRequest":
        """Read a request's JSON document; fields that are null count as absent.

        Raises:
            TypeError: Ray would answer 400; the message is Ray's.
        """
        if not isinstance(document, dict):
            raise TypeError(f"the body must be a JSON object, got {type(document)}")
        sent = {name: value for name, value in document.items() if value is not None}
        for name in sent:
            if name not in _KNOWN:
                raise TypeError(f"JobSubmitRequest.__init__() got an unexpected keyword argument '{name}'")
        if "entrypoint" not in sent:
            raise TypeError("JobSubmitRequest.__init__() missing 1 required positional argument: 'entrypoint'")
        if not isinstance(sent["entrypoint"], str):
            raise TypeError(f"entrypoint must be a string, got {type(sent['entrypoint'])}")
        for name in ("submission_id", "job_id"):
            if name in sent and not isinstance(sent[name], str):
                raise TypeError(f"{name} must be a string if provided, got {type(sent[name])}")
        for name in ("runtime_env", "metadata", "entrypoint_resources"):
            if name in sent and not isinstance(sent[name], dict):
                raise TypeError(f"{name} must be a dict, got {type(sent[name])}")
        for value in sent.get("metadata", {}).values():
            if not isinstance(value, str):
                raise TypeError(f"metadata values must be strings, got {type(value)}")
        for name in _NUMBERS:
            if name in sent and not isinstance(sent[name], int | float):
                raise TypeError(f"{name} must be a number, got {type(sent[name])}")
        if "entrypoint_memory" in sent and not isinstance(sent["entrypoint_memory"], int):
            raise TypeError(f"entrypoint_memory must be an integer, got {type(sent['entrypoint_memory'])}")
        for value in sent.get("entrypoint_resources", {}).values():
            if not isinstance(value, int | float):
                raise TypeError(f"entrypoint_resources values must be numbers, got {type(value)}")
        return cls(
            sent["entrypoint"],
            sent.get("submission_id") or sent.get("job_id"),
            sent.get("runtime_env"),
            sent.get("metadata"),
        )
