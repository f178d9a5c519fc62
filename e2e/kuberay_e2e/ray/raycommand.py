"""The `ray job` commands for a simulated head: what a submitter's shell finds on its PATH as `ray`.

It runs as a program of its own and uses the standard library alone, so that it starts fast.
Options, output and exit codes follow `ray.dashboard.modules.job.cli` of Ray 2.52.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

POLL_SECONDS = 0.1
"""How often a followed log is read."""


class ApiError(Exception):
    """The Jobs API refused a request or did not answer."""


def main(arguments: list[str]) -> int:
    """Run one command; returns its exit code: 0, 1 for a failure, 2 for a usage error."""
    if arguments[:1] != ["job"]:
        print("Error: this ray serves simulated heads and knows `ray job` alone.", file=sys.stderr)
        return 2
    options = _parser().parse_args(arguments[1:])
    address = options.address or os.environ.get("RAY_API_SERVER_ADDRESS") or os.environ.get("RAY_ADDRESS") or ""
    jobs = _Jobs(address if address.startswith("http") else f"http://{address}")
    try:
        jobs.call("GET", "/api/version")
        return int(options.command(jobs, options))
    except ApiError as error:
        print(f"RuntimeError: {error}", file=sys.stderr)
        return 1


class _Jobs:
    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/")
        self._headers = json.loads(os.environ.get("RAY_JOB_HEADERS") or "{}")

    def call(self, method: str, path: str, body: object = None) -> dict[str, object]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **self._headers}
        request = urllib.request.Request(self._address + path, data=data, headers=headers, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as response:
                document = json.load(response)
        except urllib.error.HTTPError as error:
            raise ApiError(f"Request failed with status code {error.code}: {error.read().decode()}.") from error
        except (OSError, ValueError) as error:
            raise ApiError(f"Failed to connect to Ray at address: {self._address}. {error}") from error
        return document if isinstance(document, dict) else {}


def _submit(jobs: _Jobs, options: argparse.Namespace) -> int:
    body: dict[str, object] = {
        "entrypoint": subprocess.list2cmdline(options.entrypoint),
        "runtime_env": options.runtime_env_json or {},
        "metadata": options.metadata_json or {},
    }
    for name in ("submission_id", "entrypoint_num_cpus", "entrypoint_num_gpus", "entrypoint_memory"):
        if getattr(options, name) is not None:
            body[name] = getattr(options, name)
    if options.entrypoint_resources is not None:
        body["entrypoint_resources"] = options.entrypoint_resources
    job_id = str(jobs.call("POST", "/api/jobs/", body)["submission_id"])
    _banner(f"Job '{job_id}' submitted successfully")
    print(
        f"Next steps\n  Query the logs of the job:\n    ray job logs {job_id}\n"
        f"  Query the status of the job:\n    ray job status {job_id}\n"
        f"  Request the job to be stopped:\n    ray job stop {job_id}\n",
        flush=True,
    )
    if options.no_wait:
        return 0
    print("Tailing logs until the job exits (disable with --no-wait):")
    return 1 if _follow(jobs, job_id) == "FAILED" else 0


def _status(jobs: _Jobs, options: argparse.Namespace) -> int:
    _print_status(jobs, options.job_id)
    return 0


def _logs(jobs: _Jobs, options: argparse.Namespace) -> int:
    if options.follow:
        _follow(jobs, options.job_id)
    else:
        print(jobs.call("GET", f"/api/jobs/{options.job_id}/logs")["logs"], end="")
    return 0


def _stop(jobs: _Jobs, options: argparse.Namespace) -> int:
    print(f"Attempting to stop job '{options.job_id}'")
    jobs.call("POST", f"/api/jobs/{options.job_id}/stop")
    if not options.no_wait:
        print(f"Waiting for job '{options.job_id}' to exit (disable with --no-wait):")
        while jobs.call("GET", f"/api/jobs/{options.job_id}")["status"] in ("PENDING", "RUNNING"):
            time.sleep(POLL_SECONDS)
        _print_status(jobs, options.job_id)
    return 0


def _delete(jobs: _Jobs, options: argparse.Namespace) -> int:
    jobs.call("DELETE", f"/api/jobs/{options.job_id}")
    print(f"Job '{options.job_id}' deleted successfully")
    return 0


def _follow(jobs: _Jobs, job_id: str) -> str:
    seen = 0
    while True:
        over = jobs.call("GET", f"/api/jobs/{job_id}")["status"] not in ("PENDING", "RUNNING")
        text = str(jobs.call("GET", f"/api/jobs/{job_id}/logs")["logs"])
        print(text[seen:], end="", flush=True)
        seen = len(text)
        if over:
            return _print_status(jobs, job_id)
        time.sleep(POLL_SECONDS)


def _print_status(jobs: _Jobs, job_id: str) -> str:
    info = jobs.call("GET", f"/api/jobs/{job_id}")
    match status := str(info["status"]):
        case "SUCCEEDED":
            _banner(f"Job '{job_id}' succeeded")
        case "STOPPED":
            print(f"Job '{job_id}' was stopped")
        case "FAILED":
            _banner(f"Job '{job_id}' failed")
            print(f"Status message: {info['message']}")
        case _:
            print(f"Status for job '{job_id}': {status}\nStatus message: {info['message']}")
    return status


def _banner(text: str) -> None:
    rule = "-" * len(text)
    print(f"\n{rule}\n{text}\n{rule}\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ray job", allow_abbrev=False)
    commands = parser.add_subparsers(required=True)
    common = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    common.add_argument("--address")
    for name, command in (("status", _status), ("delete", _delete)):
        added = commands.add_parser(name, parents=[common])
        added.add_argument("job_id")
        added.set_defaults(command=command)
    stop = commands.add_parser("stop", parents=[common])
    stop.add_argument("--no-wait", action="store_true")
    stop.add_argument("job_id")
    stop.set_defaults(command=_stop)
    logs = commands.add_parser("logs", parents=[common])
    logs.add_argument("-f", "--follow", action="store_true")
    logs.add_argument("job_id")
    logs.set_defaults(command=_logs)
    submit = commands.add_parser("submit", parents=[common])
    submit.add_argument("--submission-id")
    submit.add_argument("--runtime-env-json", type=json.loads)
    submit.add_argument("--metadata-json", type=json.loads)
    submit.add_argument("--entrypoint-num-cpus", type=float)
    submit.add_argument("--entrypoint-num-gpus", type=float)
    submit.add_argument("--entrypoint-memory", type=int)
    submit.add_argument("--entrypoint-resources", type=json.loads)
    submit.add_argument("--no-wait", action="store_true")
    submit.add_argument("entrypoint", nargs="+")
    submit.set_defaults(command=_submit)
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
