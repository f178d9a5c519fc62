"""The fields of a RayJob that this package knows, with the types and limits that the CRD gives them.

Source: `ray.io_rayjobs.yaml` of v1.6.2 and v1.7.0; v1.5.2 by the release notes. Pod templates are known as
far as rules look into them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kuberay_model.versions import Version

Kind = Literal["object", "map", "list", "string", "integer", "number", "boolean"]

V1_6 = Version(1, 6)
V1_7 = Version(1, 7)


@dataclass(frozen=True)
class Field:
    """A field of the CRD.

    Attributes:
        kind: JSON type; `map` is an object with free keys, `integer` has 32 bits.
        fields: Fields of an object.
        item: Type of list items or map values.
        partial: Whether the object has more fields than `fields` names.
        key: Field of a list item that must be unique in the list.
        required: Whether the field must be set.
        required_until: First version in which it need not be set any more.
        values: Allowed values; empty for all.
        minimum: Smallest integer.
        since: First version with this field.
    """

    kind: Kind
    fields: Mapping[str, Field] = field(default_factory=dict)
    item: Field | None = None
    partial: bool = False
    key: str = ""
    required: bool = False
    required_until: Version | None = None
    values: tuple[str, ...] = ()
    minimum: int | None = None
    since: Version | None = None

    def required_in(self, version: Version) -> bool:
        """Tell whether this version requires the field."""
        return self.required and (self.required_until is None or version < self.required_until)

    def known_in(self, version: Version) -> bool:
        """Tell whether this version has the field."""
        return self.since is None or self.since <= version


STRING = Field("string")
INTEGER = Field("integer")
NUMBER = Field("number")
BOOLEAN = Field("boolean")
STRINGS = Field("map", item=STRING)
ANYTHING = Field("object", partial=True)
ANY_LIST = Field("list")

ENV = Field(
    "list",
    item=Field("object", {"name": Field("string", required=True), "value": STRING, "valueFrom": ANYTHING}),
)
ENV_BY_NAME = Field("list", item=ENV.item, key="name")
CONTAINER = Field(
    "object",
    {"name": Field("string", required=True), "image": STRING, "env": ENV_BY_NAME, "volumeMounts": ANY_LIST},
    partial=True,
)
POD_TEMPLATE_FIELDS: Mapping[str, Field] = {
    "metadata": ANYTHING,
    "spec": Field(
        "object",
        {
            "containers": Field("list", item=CONTAINER, key="name", required=True),
            "restartPolicy": STRING,
            "volumes": ANY_LIST,
        },
        partial=True,
    ),
}
POD_TEMPLATE = Field("object", POD_TEMPLATE_FIELDS)
REQUIRED_POD_TEMPLATE = Field("object", POD_TEMPLATE_FIELDS, required=True)

POLICY_VALUES = ("DeleteCluster", "DeleteWorkers", "DeleteSelf", "DeleteNone")
LEGACY_POLICY = Field("object", {"policy": Field("string", values=POLICY_VALUES)})
DELETION_STRATEGY = Field(
    "object",
    {
        "onSuccess": LEGACY_POLICY,
        "onFailure": LEGACY_POLICY,
        "deletionRules": Field(
            "list",
            item=Field(
                "object",
                {
                    "policy": Field("string", required=True, values=POLICY_VALUES),
                    "condition": Field(
                        "object",
                        {
                            "jobStatus": Field(
                                "string", required=True, required_until=V1_6, values=("SUCCEEDED", "FAILED")
                            ),
                            "jobDeploymentStatus": Field("string", values=("Failed",), since=V1_6),
                            "ttlSeconds": Field("integer", minimum=0),
                        },
                        required=True,
                    ),
                },
            ),
        ),
    },
)

GROUP_FIELDS: Mapping[str, Field] = {
    "rayStartParams": STRINGS,
    "resources": STRINGS,
    "labels": STRINGS,
    "template": REQUIRED_POD_TEMPLATE,
}
HEAD_GROUP = Field(
    "object",
    {
        **GROUP_FIELDS,
        "enableIngress": BOOLEAN,
        "headService": ANYTHING,
        "ingressOptions": Field("object", partial=True, since=V1_7),
        "serviceType": STRING,
    },
    required=True,
)
WORKER_GROUP = Field(
    "object",
    {
        **GROUP_FIELDS,
        "groupName": Field("string", required=True),
        "replicas": INTEGER,
        "minReplicas": INTEGER,
        "maxReplicas": INTEGER,
        "numOfHosts": INTEGER,
        "idleTimeoutSeconds": Field("integer", since=V1_6),
        "priority": Field("integer", since=V1_7),
        "scaleStrategy": Field("object", {"workersToDelete": Field("list", item=STRING)}),
        "suspend": BOOLEAN,
    },
)
GCS_FAULT_TOLERANCE = Field(
    "object",
    {
        "redisAddress": Field("string", required=True, required_until=V1_7),
        "redisUsername": ANYTHING,
        "redisPassword": ANYTHING,
        "externalStorageNamespace": STRING,
        "backend": Field("string", values=("redis", "rocksdb"), since=V1_7),
        "storage": Field("object", partial=True, since=V1_7),
    },
)
AUTOSCALER_OPTIONS = Field(
    "object",
    {
        "env": ENV,
        "envFrom": ANY_LIST,
        "idleTimeoutSeconds": INTEGER,
        "image": STRING,
        "imagePullPolicy": STRING,
        "resources": ANYTHING,
        "securityContext": ANYTHING,
        "upscalingMode": Field("string", values=("Default", "Aggressive", "Conservative")),
        "version": Field("string", values=("v1", "v2")),
        "volumeMounts": ANY_LIST,
        "command": Field("list", item=STRING, since=V1_7),
        "args": Field("list", item=STRING, since=V1_7),
    },
)
RAY_CLUSTER = Field(
    "object",
    {
        "authOptions": Field(
            "object",
            {
                "enableK8sTokenAuth": Field("boolean", since=V1_6),
                "mode": Field("string", values=("disabled", "token")),
                "secretName": Field("string", since=V1_6),
            },
        ),
        "autoscalerOptions": AUTOSCALER_OPTIONS,
        "enableInTreeAutoscaling": BOOLEAN,
        "gcsFaultToleranceOptions": GCS_FAULT_TOLERANCE,
        "headGroupSpec": HEAD_GROUP,
        "headServiceAnnotations": STRINGS,
        "historyServerOptions": Field("object", partial=True, since=V1_7),
        "managedBy": STRING,
        "networkPolicy": Field(
            "object",
            {"mode": Field("string", values=("DenyAll", "DenyAllIngress", "DenyAllEgress"))},
            partial=True,
            since=V1_7,
        ),
        "rayVersion": STRING,
        "suspend": BOOLEAN,
        "tlsOptions": Field("object", {"enabled": BOOLEAN}, since=V1_7),
        "upgradeStrategy": Field("object", {"type": Field("string", values=("Recreate", "None"))}, since=V1_6),
        "workerGroupSpecs": Field("list", item=WORKER_GROUP),
    },
)
SPEC = Field(
    "object",
    {
        "activeDeadlineSeconds": INTEGER,
        "backoffLimit": INTEGER,
        "clusterSelector": STRINGS,
        "deletionStrategy": DELETION_STRATEGY,
        "entrypoint": STRING,
        "entrypointNumCpus": NUMBER,
        "entrypointNumGpus": NUMBER,
        "entrypointResources": STRING,
        "jobId": STRING,
        "managedBy": STRING,
        "metadata": STRINGS,
        "preRunningDeadlineSeconds": Field("integer", minimum=1, since=V1_6),
        "rayClusterSpec": RAY_CLUSTER,
        "runtimeEnvYAML": STRING,
        "shutdownAfterJobFinishes": BOOLEAN,
        "submissionMode": STRING,
        "submitterConfig": Field("object", {"backoffLimit": INTEGER}),
        "submitterPodTemplate": POD_TEMPLATE,
        "suspend": BOOLEAN,
        "ttlSecondsAfterFinished": INTEGER,
    },
)
RAY_JOB = Field(
    "object",
    {
        "metadata": Field(
            "object",
            {"name": STRING, "namespace": STRING, "labels": STRINGS, "annotations": STRINGS},
            partial=True,
        ),
        "spec": SPEC,
    },
    partial=True,
)
