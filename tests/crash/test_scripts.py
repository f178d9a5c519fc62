"""Each attempt of a run's job follows its script, and so do the submitters before it."""

from pathlib import Path

from kuberay_e2e.crash.ground import RunScripts
from kuberay_e2e.ray import JobSpec, RayClusterKey, Script, Submitter

ENTRYPOINT = "python main.py --run run-1"
FIRST, SECOND = Script(duration=1.0, failed_submitters=2), Script(duration=2.0)


def submitter(entrypoint: str = ENTRYPOINT) -> Submitter:
    command = ["/bin/bash", "-ce", f"ray job submit -- {entrypoint} ;"]
    return Submitter("run-1", "job-x", "uid", RayClusterKey("run-1", "job-y"), command, Path("log"))


def registered() -> RunScripts:
    scripts = RunScripts()
    scripts.register(ENTRYPOINT, (FIRST, SECOND))
    return scripts


def test_each_attempt_has_its_script_and_the_last_is_repeated() -> None:
    scripts = registered()
    assert [scripts(JobSpec(str(number), ENTRYPOINT)) for number in range(3)] == [FIRST, SECOND, SECOND]


def test_as_many_submitters_fail_as_the_next_job_asks_for() -> None:
    scripts = registered()
    assert [scripts.submitter_fails(submitter()) for _ in range(3)] == [True, True, False]
    scripts(JobSpec("1", ENTRYPOINT))
    assert not scripts.submitter_fails(submitter())


def test_a_job_that_nobody_registered_succeeds_and_its_submitter_does_not_fail() -> None:
    scripts = registered()
    scripts.forget(ENTRYPOINT)
    assert scripts(JobSpec("1", ENTRYPOINT)) == Script(duration=0.5)
    assert not scripts.submitter_fails(submitter())
