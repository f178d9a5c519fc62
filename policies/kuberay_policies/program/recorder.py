"""Runs a Pulumi program without an engine and writes down what it declares.

Started by path in a process of its own, under the interpreter of the program: it needs `pulumi` and nothing else
of this package. Its only argument is a JSON file with the task; the answer is a JSON file too.

As in a preview, a property that the program has set is known, and everything that only a provider or a cluster
could tell is unknown.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any

import pulumi
from google.protobuf import json_format  # type: ignore[import-untyped]
from google.protobuf.struct_pb2 import Struct  # type: ignore[import-untyped]
from pulumi.runtime import mocks, rpc
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.settings import set_root_resource
from pulumi.runtime.stack import run_in_stack

STACK = "pulumi:pulumi:Stack"


class NoProvider(mocks.Mocks):
    """Says of every function of a provider that nobody can call it."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        """Say that nothing is known; the monitor answers registrations itself."""
        return None, args.inputs

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        """Refuse.

        Raises:
            pulumi.RunError: Always.
        """
        raise pulumi.RunError(
            f"The program calls {args.token}, whose answer only the provider knows; check this program with "
            "`pulumi preview --policy-pack`, which has providers."
        )


class Recorder(mocks.MockMonitor):
    """Takes registrations as the engine does, with all resource options, and keeps them."""

    def __init__(self) -> None:
        """Begin with nothing."""
        super().__init__(NoProvider())
        self.registered: list[dict[str, Any]] = []

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """Return the URN that the engine gives: types of the parents, the stack's left out, then type and name."""
        above = parent.split("::")[2] if parent else ""
        qualified = f"{above}${type_}" if above not in ("", STACK) else type_
        return f"urn:pulumi:{pulumi.get_stack()}::{pulumi.get_project()}::{qualified}::{name}"

    def RegisterResource(self, request: Any) -> Any:
        """Keep the resource; answer with its inputs, and without an id, as for a resource yet to be created."""
        urn = self.make_urn(request.parent, request.type, request.name)
        answer = Struct()
        if request.type != STACK:
            self.registered.append(
                {
                    "type": request.type,
                    "urn": urn,
                    "custom": request.custom,
                    "remote": request.remote,
                    "properties": json_format.MessageToDict(request.object),
                    "protect": request.protect,
                    "retainOnDelete": request.retainOnDelete,
                    "deleteBeforeReplace": request.deleteBeforeReplace if request.deleteBeforeReplaceDefined else None,
                    "replaceOnChanges": list(request.replaceOnChanges),
                    "hasReplacementTrigger": request.HasField("replacement_trigger"),
                    "replacementTrigger": json_format.MessageToDict(request.replacement_trigger)
                    if request.HasField("replacement_trigger")
                    else None,
                    "transforms": len(request.transforms),
                    "ignoreChanges": list(request.ignoreChanges),
                    "dependsOn": list(request.dependencies),
                    "parent": request.parent,
                    "provider": request.provider.rpartition("::")[0],
                }
            )
            if request.custom and not request.remote:
                answer.CopyFrom(request.object)
                _hide_name(request.type, answer)
        return resource_pb2.RegisterResourceResponse(urn=urn, id="", object=answer)

    def ReadResource(self, request: Any) -> Any:
        """Answer that nothing is known of an object in the cluster but what the program says."""
        urn = self.make_urn(request.parent, request.type, request.name)
        return resource_pb2.ReadResourceResponse(urn=urn, properties=Struct())


def _hide_name(resource_type: str, answer: Struct) -> None:
    """Make the metadata of an object unknown whose name the provider makes."""
    if resource_type.startswith("kubernetes:") and "/" in resource_type and "metadata" in answer.fields:
        metadata = answer.fields["metadata"]
        if metadata.HasField("struct_value") and "name" not in metadata.struct_value.fields:
            answer.fields["metadata"].string_value = rpc.UNKNOWN


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Run the program; return its resources, and why it failed if it did."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    recorder = Recorder()
    os.chdir(task["folder"])
    pulumi.runtime.set_all_config(task["config"], task["secrets"])
    mocks.set_mocks(
        recorder.mocks, task["project"], task["stack"], preview=True, monitor=recorder, organization="organization"
    )
    pulumi.runtime.settings.SETTINGS.root_directory = task["root"]
    set_root_resource(None)  # type: ignore[arg-type] # the one of `set_mocks` has ended before the program begins
    sys.path.insert(0, task["folder"])
    sys.argv = [task["entry"]]
    error = ""
    try:
        loop.run_until_complete(run_in_stack(lambda: _execute(task["entry"])))
    except pulumi.RunError as failure:
        error = str(failure)
    except (Exception, SystemExit) as failure:
        traceback.print_exc()
        error = f"{type(failure).__name__}: {failure}{_place(failure, task['root'])}"
    return {"resources": recorder.registered, "error": error}


def _execute(entry: str) -> None:
    runpy.run_path(entry, run_name="__main__")


def _place(failure: BaseException, root: str) -> str:
    own = [frame for frame in traceback.extract_tb(failure.__traceback__) if frame.filename.startswith(root)]
    return f" ({os.path.relpath(own[-1].filename, root)}:{own[-1].lineno})" if own else ""


def main() -> None:
    """Do the task of the file named by the argument."""
    gc.set_threshold(500_000)  # a stack of hundreds of objects is a third faster, and the process ends with it
    file = Path(sys.argv[1])
    task = json.loads(file.read_text())
    answer = run(task)
    file.with_suffix(".answer.json").write_text(json.dumps(answer))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # threads of the program do not hold up the end


if __name__ == "__main__":
    main()
