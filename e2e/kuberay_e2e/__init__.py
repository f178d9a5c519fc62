"""End-to-end harness: drives a RayJob through its life cycle and kills the KubeRay operator on the way."""
