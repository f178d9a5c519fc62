"""What KubeRay accepts, what it does, and how a RayJob ended: pure Python, no cluster, no Pulumi.

* `kuberay_model.versions`: supported operator versions and the feature gates of each.
* `kuberay_model.rules`: every rule by which the API server or the operator refuses a RayJob, and inputs that
  nothing refuses although they break.
* `kuberay_model.states`: the status fields of a RayJob and the transitions the operator makes.
* `kuberay_model.outcome`: one value from a RayJob's status.
* `kuberay_model.waiter`: waiting for a RayJob, which fails at once when the job has failed.
* `kuberay_model.manifests`: YAML files as documents that know their file and line.
"""
