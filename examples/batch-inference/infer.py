"""Score the batches of one day; Ray's autoscaler adds workers for the tasks that wait."""

import argparse

import ray

BATCHES = 40


@ray.remote(num_cpus=1, max_retries=3)
def score(day: str, batch: int) -> int:
    """Stand in for a model: the number of records in one batch."""
    return len(f"{day}-{batch}") * 100


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--day", required=True, help="the day whose batches are scored")
day = parser.parse_args().day

ray.init()
records = sum(ray.get([score.remote(day, batch) for batch in range(BATCHES)]))
print(f"{day}: {records} records in {BATCHES} batches")
