"""What the commands of `kuberay-policies` do, without the parsing of the command line."""
