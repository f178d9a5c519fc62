from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pulumi

STACKS = Path(__file__).resolve().parents[2] / "stacks"


@dataclass
class Engine(pulumi.runtime.Mocks):
    """Stands in for Pulumi's engine: records what a program registers."""

    resources: list[pulumi.runtime.MockResourceArgs] = field(default_factory=list)

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        self.resources.append(args)
        return f"{args.name}-id", dict(args.inputs)

    def call(self, args: pulumi.runtime.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        raise AssertionError(f"No component calls a function of a provider, but {args.token} was called.")

    def inputs(self, token: str) -> list[dict[str, Any]]:
        """Return the inputs of every resource of one type, by logical name: registrations arrive in any order."""
        found = [resource for resource in self.resources if resource.typ == token]
        return [dict(resource.inputs) for resource in sorted(found, key=lambda resource: str(resource.name))]

    def one(self, token: str) -> dict[str, Any]:
        """Return the inputs of the only resource of one type."""
        [only] = self.inputs(token)
        return only


Run = Callable[[Callable[[], Any]], Engine]
