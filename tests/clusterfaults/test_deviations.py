"""Known deviations are data: unlisted ones fail, and so do listed ones that have gone away."""

from dataclasses import replace
from pathlib import Path

import pytest

from kuberay_e2e.deviations import Deviation, Deviations, Occurrence, judge
from kuberay_e2e.deviations.catalogue import files, read
from kuberay_e2e.errors import InputError
from kuberay_e2e.verdicts import Finding, State, Verdict

GONE = Deviation(
    id="job-gone",
    scenario="submitter-job-deleted",
    promise="RayJob ends",
    expected="It ends.",
    seen="Running after",
    trace=("+1.0 Job deleted",),
    cause="An error is returned for ever.",
    upstream="none found",
    mode="K8sJobMode",
)
BROKEN = Finding("RayJob ends", False, "Running after 60 s", "an end")
KEPT = Finding("RayJob ends", True, "Failed")
OTHER = Finding("entrypoint runs once", False, "2 starts")

VALID = """
- id: job-gone
  scenario: submitter-job-deleted
  promise: RayJob ends
  expected: It ends.
  seen: Running after
  trace: ["+1.0 Job deleted"]
  cause: An error is returned for ever.
  upstream: none found
"""


def verdict(*findings: Finding, known: tuple[Deviation, ...] = (GONE,), mode: str = "K8sJobMode") -> Verdict:
    return judge("submitter-job-deleted", findings, Deviations(known), expected="It ends.", seconds=1.0, mode=mode)


def test_promises_that_are_kept_hold() -> None:
    assert verdict(KEPT, known=()).state is State.HELD


def test_a_listed_deviation_that_happens_deviates() -> None:
    found = verdict(BROKEN)
    assert (found.state, found.deviation) == (State.DEVIATES, ("job-gone",))


def test_an_unlisted_one_is_a_violation() -> None:
    found = verdict(BROKEN, OTHER)
    assert found.state is State.VIOLATED
    assert "entrypoint runs once: broken, and no known deviation: 2 starts" in found.seen


def test_another_way_of_breaking_the_same_promise_is_a_violation() -> None:
    assert verdict(replace(BROKEN, seen="Retrying")).state is State.VIOLATED


def test_a_listed_one_that_has_gone_away_is_a_violation() -> None:
    found = verdict(KEPT)
    assert found.state is State.VIOLATED
    assert "job-gone did not happen (RayJob ends: Failed)" in found.seen


def test_one_that_depends_on_timing_may_stay_away() -> None:
    sometimes = replace(GONE, occurrence=Occurrence.SOMETIMES)
    assert verdict(KEPT, known=(sometimes,)).state is State.HELD
    assert verdict(BROKEN, known=(sometimes,)).state is State.DEVIATES


def test_one_cause_may_break_several_promises_and_is_named_once() -> None:
    twice = replace(GONE, also=("status agrees with the entrypoint",))
    other = Finding("status agrees with the entrypoint", False, "Running after the entrypoint's end")
    found = verdict(BROKEN, other, known=(twice,))
    assert (found.state, found.deviation) == (State.DEVIATES, ("job-gone",))
    assert verdict(BROKEN, replace(other, seen="2 starts"), known=(twice,)).state is State.VIOLATED


def test_a_deviation_of_another_mode_excuses_nothing() -> None:
    assert verdict(BROKEN, mode="HTTPMode").state is State.VIOLATED


def test_a_version_has_the_deviations_of_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "kuberay-1.6.2.yaml").write_text(VALID)
    assert [entry.id for entry in Deviations.of(tmp_path, kuberay="1.6.2", kueue="0.19.2")] == ["job-gone"]
    assert not Deviations.of(tmp_path, kuberay="1.7.0")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("- id: job-gone", "- id: Job Gone"), "lower-case words"),
        (("seen: Running after", 'seen: "("'), "regular expression"),
        (("  upstream: none found\n", ""), "'upstream'"),
        (("  cause: An error is returned for ever.", "  cause: 7"), "cause .* to be text"),
        (('trace: ["+1.0 Job deleted"]', "trace: nothing"), "list of lines"),
        (("  upstream: none found", "  upstream: none found\n  also: RayJob ends"), "also .* list of lines"),
        (("  promise:", "  promis:"), "Unknown field 'promis'"),
        (("  upstream: none found", "  upstream: none found\n  occurrence: often"), "always or sometimes"),
        (("- id", "- nothing\n- id"), "entry 1"),
        ((VALID, VALID + VALID), "more than once"),
        ((VALID, "id: job-gone"), "list of deviations"),
        ((VALID, "- ["), "to be YAML"),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_refused(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = tmp_path / "kuberay-1.6.2.yaml"
    path.write_text(VALID.replace(*change))
    with pytest.raises(InputError, match=message):
        read(path)


@pytest.mark.parametrize("path", files(), ids=lambda path: path.name)
def test_the_bundled_files_are_as_they_should_be(path: Path) -> None:
    assert read(path)
