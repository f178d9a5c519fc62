"""Reading what is to be checked: manifests in files and folders, standard input, state files of Pulumi."""

from kuberay_policies.reading.inputs import InputProblem, Inputs, read

__all__ = ["InputProblem", "Inputs", "read"]
