"""CEL of the policies on security, and on names, namespaces and labels."""

from __future__ import annotations

from kuberay_model.sentences import listed
from kuberay_policies.catalogue.exposure import OUTSIDE
from kuberay_policies.catalogue.image_policies import MOVING_TAGS
from kuberay_policies.catalogue.naming import LONGEST
from kuberay_policies.catalogue.pod_security import BASELINE_CAPABILITIES, HOST_NAMESPACES, SECCOMP
from kuberay_policies.targets import CONTAINER_LISTS
from kuberay_policies.vap.cel import (
    NOTHING,
    each,
    each_of_pods,
    finding,
    listing,
    literal,
    sentence,
    strings,
    together,
    under,
    when,
)
from kuberay_policies.vap.registry import Rendering, expression
from kuberay_policies.vap.variables import HEAD_PATH

_CONTEXT = "{p.path}.spec.LIST[{i}].securityContext"


@expression("P301")
def _token(_: Rendering) -> str:
    return when(
        "!variables.hasToken && !variables.selected",
        finding(
            "spec.rayClusterSpec.authOptions.mode",
            "Ray asks nobody for a token: every Pod that reaches the head can run code.",
            "Set authOptions.mode: token, with rayVersion 2.52.0 or later.",
        ),
    )


@expression("P302")
def _dashboard(to: Rendering) -> str:
    wrong = "A Service of type {TYPE} opens dashboard, Ray client and GCS to the network."
    remedy = "Use ClusterIP, and reach the dashboard by `kubectl port-forward` or an authenticating proxy."
    outside = strings(sorted(OUTSIDE))
    found = together(
        *(
            when(
                f"{value} in {outside}",
                finding(f"{HEAD_PATH}.{path}", wrong.replace("TYPE", value), remedy),
            )
            for path, value in (
                ("serviceType", "variables.head.?serviceType.orValue('')"),
                ("headService.spec.type", "variables.head.?headService.?spec.?type.orValue('')"),
            )
        ),
        when(
            "variables.head.?enableIngress.orValue(false)",
            finding(
                f"{HEAD_PATH}.enableIngress",
                "The Ingress that KubeRay makes opens the dashboard without asking who is there.",
                "Set enableIngress: false, or turn on token authentication.",
            ),
        ),
    )
    return under("!variables.hasToken", found) if to.parameters.with_token else found


@expression("P310")
def _host_not_shared(to: Rendering) -> str:
    return together(
        *(
            each(
                "variables.pods",
                "p",
                f"p.spec.?{field}.orValue(false)",
                finding(f"{{p.path}}.spec.{field}", f"{{p.title}} shares {field} with its node.", "Remove it."),
            )
            for field in HOST_NAMESPACES
        ),
        each_of_pods(
            to.policy.id,
            "volumes",
            "has(c.hostPath)",
            sentence(
                "{p.path}.spec.volumes[{i}].hostPath: {p.title} mounts {c.hostPath.?path.orValue('a path')} of its "
                "node. Use a PersistentVolumeClaim, a CSI volume or emptyDir."
            ),
        ),
    )


def _containers(id: str, condition: str, said: str) -> str:
    return together(
        *(each_of_pods(id, field, condition, sentence(said.replace("LIST", field))) for field in CONTAINER_LISTS)
    )


@expression("P312")
def _restricted(to: Rendering) -> str:
    own, pod = "c.?securityContext", "p.spec.?securityContext"

    def inherited(field: str, default: str) -> str:
        return f"{own}.?{field}.orValue({pod}.?{field}.orValue({default}))"

    parts = {
        f"{inherited('runAsNonRoot', 'false')}": "runAsNonRoot: true",
        f"{inherited('runAsUser', '1')} != 0": "a runAsUser other than 0",
        f"!{own}.?allowPrivilegeEscalation.orValue(true)": "allowPrivilegeEscalation: false",
        f"'ALL' in {own}.?capabilities.?drop.orValue(dyn([]))": "capabilities.drop: [ALL]",
        f"{own}.?seccompProfile.orValue({pod}.?seccompProfile.orValue(dyn({{'type': 'none'}}))).?type.orValue('')"
        f" in {strings(sorted(SECCOMP))}": "seccompProfile.type: RuntimeDefault",
    }
    condition = " && ".join(f"({part})" for part in parts)
    return _containers(
        to.policy.id,
        f"!({condition})",
        "{p.path}.spec.LIST[{i}].securityContext: Container '{c.?name.orValue('')}' of "
        "{p.title.substring(0, 1).lowerAscii() + p.title.substring(1)} does not run restricted. Set "
        f"{listed(list(parts.values()))}.",
    )


@expression("P311", limit="of several host ports of a container the first is named")
def _not_privileged(to: Rendering) -> str:
    own = "c.?securityContext"
    added = f"{own}.?capabilities.?add.orValue(dyn([])).map(k, string(k).replace('CAP_', ''))"
    extra = f"{added}.filter(k, !(k in {strings(sorted(BASELINE_CAPABILITIES))}))"
    ports = "c.?ports.orValue(dyn([]))"
    port = f"variables.numbers.filter(k, k < size({ports}) && {ports}[k].?hostPort.orValue(0) != 0)"
    container = "Container '{c.?name.orValue('')}'"
    return together(
        _containers(
            to.policy.id,
            f"{own}.?privileged.orValue(false)",
            f"{_CONTEXT}.privileged: {container} is privileged. Remove privileged.",
        ),
        _containers(
            to.policy.id,
            f"size({extra}) > 0",
            f"{_CONTEXT}.capabilities.add: {container} has the capabilities {{{listing(extra)}}}. Remove them.",
        ),
        _containers(
            to.policy.id,
            f"!({own}.?procMount.orValue('Default') in ['', 'Default'])",
            f"{_CONTEXT}.procMount: procMount unmasks /proc of the node. Remove it.",
        ),
        _containers(
            to.policy.id,
            f"size({port}) > 0",
            f"{{p.path}}.spec.LIST[{{i}}].ports[{{{port}[0]}}].hostPort: {container} takes a port of its node, open to "
            "the node's network. Remove hostPort; KubeRay makes Services.",
        ),
    )


@expression("P313")
def _service_account_token(_: Rendering) -> str:
    return each(
        "variables.pods",
        "p",
        "!p.autoscales && p.spec.?automountServiceAccountToken.orValue(true)",
        finding(
            "{p.path}.spec.automountServiceAccountToken",
            "{p.title} gets a token for the API server that it does not need.",
            "Set automountServiceAccountToken: false.",
        ),
    )


@expression("P320")
def _pinned(to: Rendering) -> str:
    image = "c.?image.orValue('')"
    if to.parameters.digest:
        return _containers(
            to.policy.id,
            f"{image} != '' && !{image}.contains('@')",
            f"{{p.path}}.spec.LIST[{{i}}].image: The image {{{image}}} has no digest. Add @sha256:… of the image.",
        )
    tag = f"{image}.find(':[^/:]*$').replace(':', '')"
    return _containers(
        to.policy.id,
        f"{image} != '' && !{image}.contains('@') && {tag} in {strings(sorted(MOVING_TAGS))}",
        f"{{p.path}}.spec.LIST[{{i}}].image: The image {{{image}}} has "
        f"{{{tag} == '' ? 'no tag, which means latest' : 'the moving tag ' + {tag}}}. "
        "Use the tag of a release, or a digest.",
    )


@expression("P501", limit="an object that names no namespace has one in a cluster")
def _namespace(to: Rendering) -> str:
    return when(
        f"object.metadata.namespace in {strings(to.parameters.forbidden)}",
        finding(
            "metadata.namespace",
            "The namespace {object.metadata.namespace} is not allowed.",
            "Use one of the team's own.",
        ),
    )


@expression("P502")
def _labels(to: Rendering) -> str:
    required = to.parameters.required
    if not required:
        return NOTHING
    missing = f"{strings(required)}.filter(l, variables.labels[?l].orValue('') == '')"
    return when(
        f"size({missing}) > 0",
        finding(
            "metadata.labels",
            f"The object has no {{{missing}.join(' and no ')}}.",
            f"Add {{{missing}.join(' and ')}}.",
        ),
    )


@expression("P503", limit="that Pulumi makes a name is not seen")
def _name_fits(_: Rendering) -> str:
    return together(
        *(
            when(
                f"variables.kind == {literal(kind)} && size(variables.name) > {longest}",
                finding(
                    "metadata.name",
                    f"The name has {{size(variables.name)}} characters, and a {kind} takes {longest}.",
                    f"Use at most {longest} characters.",
                ),
            )
            for kind, longest in LONGEST.items()
            if kind != "RayJob"
        )
    )
