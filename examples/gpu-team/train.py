"""Use every GPU of the RayCluster once, and say which it was."""

import ray


@ray.remote(num_gpus=1)
def step(shard: int) -> str:
    """Stand in for a training step on one GPU."""
    return f"shard {shard} on GPU {ray.get_gpu_ids()}"


ray.init()
gpus = int(ray.cluster_resources().get("GPU", 0))
for line in ray.get([step.remote(shard) for shard in range(gpus)]):
    print(line)
print(f"{gpus} shards done")
