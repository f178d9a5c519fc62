"""Every policy of `kuberay_policies` about the objects of a rendered folder."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

from kuberay_e2e.errors import InputError
from kuberay_e2e.gitops.finding import Finding, Severity
from kuberay_e2e.gitops.stage import CRD
from kuberay_e2e.gitops.tree import Tree
from kuberay_model import schemas
from kuberay_model.schemas import SchemaError
from kuberay_model.versions import SUPPORTED, Version
from kuberay_policies.evaluation import evaluate
from kuberay_policies.operator_deployment import OperatorDeployment
from kuberay_policies.pack.environment import PackError, environment, settings_file
from kuberay_policies.policy import Severity as PolicySeverity
from kuberay_policies.settings import Settings
from kuberay_policies.settings_file import SettingsError, load


def operator_version(tree: Tree) -> Version | None:
    """Return the version of the operator in the folder, None if there is none."""
    for item in tree.of("apps", "Deployment"):
        operator = OperatorDeployment.of(item.subject)
        if operator is not None and operator.version is not None:
            return operator.version
    return None


def chosen_settings(tree: Tree, config: Path | None, named: str) -> Settings:
    """Return the settings of the policies for a folder.

    Args:
        tree: The folder; the version of its operator and its CRDs are those that rules look at.
        config: A settings file; None for `kuberay-policies.yaml` in the current folder, if there is one.
        named: Environment of the file; empty for the one with the stack's name, if there is one.

    Raises:
        InputError: There is no such file or environment, or the operator's version is not known.
    """
    try:
        file = config or settings_file((Path(),))
        chosen = environment(file, tree.record.stack, named)
        if file is None and chosen:
            raise InputError(f"--environment {chosen} needs a settings file; name it by --config.")
        settings = Settings() if file is None else load(file, chosen)
    except (PackError, SettingsError) as error:
        raise InputError(str(error)) from None
    version = operator_version(tree)
    if version is not None and (version.major, version.minor) not in {
        (known.major, known.minor) for known in SUPPORTED
    }:
        raise InputError(
            f"The operator in {tree.folder} is {version}, whose rules are not known here; known are "
            f"{', '.join(map(str, SUPPORTED))}."
        )
    if version is not None:
        settings = replace(settings, version=version)
    crds = [item.manifest for item in tree.by_kind.get(CRD, ())]
    try:
        return replace(settings, schema=schemas.from_objects(crds, "the folder")) if crds else settings
    except SchemaError:
        return settings  # The CRDs are those of others, such as Kueue's.


def findings(tree: Tree, settings: Settings) -> Iterator[Finding]:
    """Ask the policies about all objects at once."""
    for found in evaluate([item.subject for item in tree.objects], settings).findings:
        file = found.source.file
        place = str(PurePosixPath(Path(file).relative_to(tree.folder).as_posix())) if file else tree.record.stack
        severity = Severity.ERROR if found.severity is PolicySeverity.ERROR else Severity.WARNING
        where = f"{found.path}: " if found.path else ""
        message = f"{found.subject.title}: {where}{found.message}"
        yield Finding(
            place, found.source.line or 0, f"{found.policy.id} {found.policy.name}", message, severity, found.path
        )
