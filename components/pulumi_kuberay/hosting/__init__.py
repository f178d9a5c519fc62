"""Serves the components to Pulumi programs in YAML, TypeScript, Go and every other language."""
