"""The report for programs: all of it as JSON, and JUnit XML."""

import dataclasses
import json
from typing import Any

from kuberay_e2e import verdicts
from kuberay_e2e.crash.report import commands, wording
from kuberay_e2e.crash.report.coverage import coverage
from kuberay_e2e.crash.report.runs import Run
from kuberay_e2e.crash.report.summary import Defect, Group, Report
from kuberay_e2e.verdicts import State


def json_text(report: Report) -> str:
    """Everything that the page tells, except the timelines, which are in the runs' folders."""
    data = {
        "title": wording.title(report),
        "verdict": wording.head(report),
        "exit_code": report.exit_code,
        "versions": report.versions,
        "seconds": round(report.seconds, 3),
        "counts": {state.value: report.count(state) for state in State},
        "go_on": commands.go_on(report.folder),
        "scenarios": [_group(group) for group in report.groups],
        "deviations": [_defect(defect) for defect in report.defects],
        "runs": [_run(run) for run in report.runs],
    }
    return json.dumps(data, indent=1) + "\n"


def junit_xml(report: Report) -> bytes:
    """A test case per run, with the command that replays it where it did not pass."""
    several = len(report.versions) > 1
    cases = [
        dataclasses.replace(
            run.verdict,
            mode=run.result.version if several else "",
            evidence=(f"Replay: {commands.replay(run.result.point)}",),
        )
        for run in report.runs
    ]
    return verdicts.junit_xml("kuberay-e2e crash", cases)


def _group(group: Group) -> dict[str, Any]:
    matrix = group.matrix
    return {
        "version": group.version,
        "scenario": group.name,
        "sentence": group.sentence,
        "runs_without_a_fault": group.learned.runs,
        "writes": [str(write) for write in group.learned.writes],
        "unstable": dict(group.learned.unstable),
        "coverage": dataclasses.asdict(coverage(group)),
        "matrix": {
            str(row.write): {
                column: {
                    "mark": cell.mark.value,
                    **({"run": str(cell.run.result.point)} if cell.run else {}),
                    **({"why": cell.why} if cell.why else {}),
                    **({"same": cell.same} if cell.same else {}),
                }
                for column, cell in zip(matrix.columns, row.cells, strict=True)
            }
            for row in matrix.rows
        },
        "entrypoint": {
            once.fault: {
                "ran": once.guarantee.value,
                "runs": once.runs,
                "off": [str(run.result.point) for run in once.off],
            }
            for once in group.once
        },
    }


def _defect(defect: Defect) -> dict[str, Any]:
    return {
        "version": defect.version,
        "id": defect.deviation.id,
        "upstream": defect.deviation.upstream,
        "concerned": defect.concerned,
        "runs": [str(run.result.point) for run in defect.runs],
        "run_seconds_until_found": round(defect.runs[0].run_seconds, 3) if defect.runs else None,
    }


def _run(run: Run) -> dict[str, Any]:
    result = run.result
    return {
        "point": str(result.point),
        "version": result.version,
        "scenario": result.point.scenario,
        "write": str(result.point.write) if result.point.write else None,
        "position": run.column or None,
        "state": run.verdict.state.value,
        "sentence": run.sentence,
        "deviations": run.verdict.deviation,
        "seconds": result.seconds,
        "spans": dict(result.spans),
        "findings": [dataclasses.asdict(finding) for finding in result.findings],
        "error": result.error,
        "entrypoint_starts": run.effects.starts if run.effects else None,
        "folder": result.folder,
        "replay": commands.replay(result.point),
    }
