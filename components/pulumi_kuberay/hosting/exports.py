"""The components that other languages see: those that `pulumi_kuberay` exports."""

import inspect

import pulumi

import pulumi_kuberay

PACKAGE = "kuberay"
"""Name of the Pulumi package: the first part of every type token."""


def exported_components() -> list[type[pulumi.ComponentResource]]:
    """Return the component classes of ``pulumi_kuberay.__all__``, sorted by name."""
    exported = (getattr(pulumi_kuberay, name) for name in sorted(pulumi_kuberay.__all__))
    return [value for value in exported if inspect.isclass(value) and issubclass(value, pulumi.ComponentResource)]


def args_class(component: type[pulumi.ComponentResource]) -> type:
    """Return the class of a component's arguments, the annotation of ``args`` in its constructor.

    Raises:
        TypeError: The constructor has no such parameter.
    """
    annotation = inspect.get_annotations(component.__init__).get("args")
    if not inspect.isclass(annotation):
        raise TypeError(
            f"The constructor of {component.__name__} must have a parameter args whose annotation is a class, "
            f"but it is annotated with {annotation!r}."
        )
    return annotation
