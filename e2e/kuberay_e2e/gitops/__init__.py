"""A stack as plain YAML for Argo CD, Flux or kubectl: rendered, checked, compared, without a cluster."""
