"""The objects of a Pulumi program, without an engine: for checks of pull requests."""
