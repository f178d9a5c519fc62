"""How simulated nodes and pods behave: kwok Stages of our own.

kwok's default stages finish every pod of a Job a second after it starts. Here nothing ends by itself: the
harness ends submitter pods and makes Ray head pods Ready, through the pod's status, as a kubelet would.
The same goes for Kueue's pods, whose program the harness runs.
Fields and functions of a Stage: https://kwok.sigs.k8s.io/docs/user/stages-configuration/
"""

from typing import Any

Manifest = dict[str, Any]

RAY_NODE_TYPE = "ray.io/node-type"
"""Label by which the operator tells head pods from worker pods."""

APP_NAME = "app.kubernetes.io/name"
KUEUE = "kueue"
"""Value of `APP_NAME` on Kueue's pods."""

_NODE_STATUS = """\
{{ $now := Now }}
phase: Running
conditions:
{{ range NodeConditions }}
- {type: {{ .type | Quote }}, status: {{ .status | Quote }}, reason: {{ .reason | Quote }}, \
message: {{ .message | Quote }}, lastHeartbeatTime: {{ $now | Quote }}, lastTransitionTime: {{ $now | Quote }}}
{{ end }}
addresses:
- {type: InternalIP, address: {{ NodeIP | Quote }}}
- {type: Hostname, address: {{ NodeName | Quote }}}
daemonEndpoints:
  kubeletEndpoint: {Port: {{ NodePort }}}
allocatable: &size {cpu: 1k, memory: 1Ti, pods: 1M, nvidia.com/gpu: 1k}
capacity: *size
nodeInfo:
  architecture: amd64
  operatingSystem: linux
  kubeletVersion: kwok-{{ Version }}
  containerRuntimeVersion: kwok-{{ Version }}
  bootID: ""
  kernelVersion: ""
  kubeProxyVersion: ""
  machineID: ""
  osImage: ""
  systemUUID: ""
"""

_POD_ADDRESSES = """\
{{ with NodeIPsWith .spec.nodeName }}
hostIP: {{ index . 0 | Quote }}
hostIPs: [{ip: {{ index . 0 | Quote }}}]
{{ end }}
{{ with PodIPsWith .spec.nodeName false .metadata.uid .metadata.name .metadata.namespace }}
podIP: {{ index . 0 | Quote }}
podIPs: [{ip: {{ index . 0 | Quote }}}]
{{ end }}
startTime: {{ Now | Quote }}
"""

_INIT_CONTAINERS = """\
initContainerStatuses:
{{ range .spec.initContainers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: true
  restartCount: 0
  state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ Now | Quote }}, finishedAt: {{ Now | Quote }}}}
{{ end }}
"""

_POD_RUNNING = (
    """\
phase: Running
conditions:
- {type: Initialized, status: "True", lastTransitionTime: {{ Now | Quote }}}
- {type: ContainersReady, status: "True", lastTransitionTime: {{ Now | Quote }}}
- {type: Ready, status: "True", lastTransitionTime: {{ Now | Quote }}}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: true
  started: true
  restartCount: 0
  state: {running: {startedAt: {{ Now | Quote }}}}
{{ end }}
"""
    + _INIT_CONTAINERS
    + _POD_ADDRESSES
)

_STARTING = (
    """\
phase: Pending
conditions:
- {type: Initialized, status: "True", lastTransitionTime: {{ Now | Quote }}}
- {type: ContainersReady, status: "False", reason: ContainersNotReady, lastTransitionTime: {{ Now | Quote }}}
- {type: Ready, status: "False", reason: ContainersNotReady, lastTransitionTime: {{ Now | Quote }}}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  imageID: ""
  ready: false
  started: false
  restartCount: 0
  state: {waiting: {reason: ContainerCreating}}
{{ end }}
"""
    + _INIT_CONTAINERS
    + _POD_ADDRESSES
)


def stages() -> list[Manifest]:
    """The stages of nodes and pods."""
    absent = {"operator": "DoesNotExist"}
    pending: list[Manifest] = [
        {"key": ".metadata.deletionTimestamp", **absent},
        {"key": ".spec.nodeName", "operator": "Exists"},
        {"key": ".status.podIP", **absent},
        {"key": ".status.phase", "operator": "In", "values": ["Pending"]},
    ]
    run_by_harness = {"head": (RAY_NODE_TYPE, "head"), "kueue": (APP_NAME, KUEUE)}
    return [
        _stage(
            "node-ready",
            "Node",
            [{"key": ".status.phase", "operator": "NotIn", "values": ["Running"]}],
            _NODE_STATUS,
        ),
        _stage(
            "pod-running",
            "Pod",
            [*pending, *(_label(label, "NotIn", value) for label, value in run_by_harness.values())],
            _POD_RUNNING,
        ),
        *(
            _stage(f"{name}-starting", "Pod", [*pending, _label(label, "In", value)], _STARTING)
            for name, (label, value) in run_by_harness.items()
        ),
        _stage("pod-gone", "Pod", [{"key": ".metadata.deletionTimestamp", "operator": "Exists"}], None),
    ]


def _label(label: str, operator: str, value: str) -> Manifest:
    return {"key": f'.metadata.labels["{label}"]', "operator": operator, "values": [value]}


def _stage(name: str, kind: str, when: list[Manifest], status: str | None) -> Manifest:
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind},
            "selector": {"matchExpressions": when},
            "next": {"delete": True} if status is None else {"statusTemplate": status},
        },
    }
