"""Makes one sweep of several, such as the parts that were run on different machines."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from kuberay_e2e.crash import authored
from kuberay_e2e.crash.difference import EndState
from kuberay_e2e.crash.learning import Learned
from kuberay_e2e.crash.store import Result, SweepFolder
from kuberay_e2e.errors import InputError


def merge(folders: Sequence[Path], target: Path) -> SweepFolder:
    """Put the results of sweeps into one folder.

    Of a run that is in several of them the first that could be judged counts, and without one the last. A write is
    kept as stable where it is stable in all that learned its scenario.

    Args:
        folders: The sweeps' folders.
        target: A folder that does not exist yet, or is empty.

    Raises:
        InputError: The target is not empty, a folder is not that of a sweep, or two of them have different RayJobs of
            a user by the same name.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InputError(f"Expected {target} to be a new or an empty folder, to merge sweeps into it.")
    for folder in folders:
        if not SweepFolder(folder).is_sweep:
            raise InputError(f"Expected {folder} to be the folder of a sweep; it has no results and nothing learned.")
    sweeps = [SweepFolder(folder) for folder in folders]
    merged = SweepFolder(target)
    for scenario in (scenario for folder in folders for scenario in authored.kept(folder)):
        authored.keep(target, scenario)
    for version in dict.fromkeys(version for sweep in sweeps for version in sweep.versions()):
        merged.keep_learned(version, common([sweep.learned(version) for sweep in sweeps]))
    for sweep, result in _chosen(sweeps):
        if result.folder and (source := sweep.path / result.folder).is_dir():
            shutil.copytree(source, target / result.folder, dirs_exist_ok=True)
        merged.keep(result)
    return merged


def common(parts: Sequence[dict[str, Learned]]) -> dict[str, Learned]:
    """What several have learned in common, by scenario."""
    found: dict[str, list[Learned]] = {}
    for part in parts:
        for name, learned in part.items():
            found.setdefault(name, []).append(learned)
    return {name: _common(several) for name, several in found.items()}


def _common(several: Sequence[Learned]) -> Learned:
    first = several[0]
    if len(several) == 1:
        return first
    unstable = {write: why for learned in several for write, why in learned.unstable.items()}
    for write in dict.fromkeys(write for learned in several for write in learned.writes):
        count = sum(write in learned.writes for learned in several)
        if count < len(several):
            why = unstable.get(str(write))
            unstable[str(write)] = f"stable in {count} of {len(several)} parts" + (f", {why} in another" if why else "")
    writes = tuple(write for write in first.writes if str(write) not in unstable)
    end = EndState.merged([learned.end for learned in several])
    return Learned(first.scenario, sum(learned.runs for learned in several), writes, unstable, end)


def _chosen(sweeps: Sequence[SweepFolder]) -> list[tuple[SweepFolder, Result]]:
    chosen: dict[tuple[str, str], tuple[SweepFolder, Result]] = {}
    for sweep in sweeps:
        for result in sweep.results():
            key = (str(result.point), result.version)
            if key not in chosen or chosen[key][1].error:
                chosen[key] = (sweep, result)
    return list(chosen.values())
