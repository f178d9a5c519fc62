"""One object a file, under the name that render gives it, and every object once."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from kuberay_e2e.gitops.finding import Finding
from kuberay_e2e.gitops.kustomize import FILE
from kuberay_e2e.gitops.placed import OBJECTS, identity, path_of
from kuberay_e2e.gitops.tree import Item, Tree

RULE = "names"


def findings(tree: Tree) -> Iterator[Finding]:
    """Look at the names of files and objects."""
    first: dict[tuple[str, str, str, str], Item] = {}
    files: dict[PurePosixPath, Item] = {}
    for item in tree.objects:
        if item.file in files:
            yield item.finding(RULE, "there is another object in this file; give each object a file of its own.")
            continue
        files[item.file] = item
        if not item.subject.name:
            yield item.finding(RULE, "it has no metadata.name, so each sync would make another object; set a name.")
            continue
        other = first.setdefault(identity(item.manifest), item)
        if other is not item:
            yield item.finding(RULE, f"it is in {other.file} already; remove one of the two.")
        elif item.stage is None:
            yield item.finding(RULE, f"its folder is none that render writes below {OBJECTS}; render the stack again.")
        elif item.file != (expected := path_of(item.manifest, item.stage)):
            yield item.finding(RULE, f"render calls its file {expected}; this one is from somebody else. Remove it.")
    for file in tree.strangers:
        yield Finding(str(file), 0, RULE, "There is no Kubernetes object in this file; remove it.")
    yield from _lists(tree, set(files))


def _lists(tree: Tree, files: set[PurePosixPath]) -> Iterator[Finding]:
    """A file that kustomize is not told of is not applied."""
    for folder, item in sorted(tree.kustomizations.items()):
        below = {str(file.relative_to(folder)) for file in files if folder in file.parents}
        if folder.parts[0] != OBJECTS:
            below = {engine.file.name for engine in tree.engine if engine.file.parent == folder}
        listed = {str(name) for name in item.manifest.get("resources") or ()}
        for name in sorted(below - listed):
            yield Finding(str(folder / name), 0, RULE, f"{item.file} does not list this file, so it is not applied.")
        for name in sorted(listed - below):
            yield Finding(
                str(item.file), 0, RULE, f"It lists {name}, and there is no such file; kustomize fails on it."
            )
    if tree.kustomizations:
        folders = {PurePosixPath(*file.parts[:2]) for file in files if len(file.parts) > 2}
        for folder in sorted(folders - set(tree.kustomizations)):
            yield Finding(str(folder), 0, RULE, f"There is no {FILE} in this folder; render the stack again.")
