"""Count words on all workers and print a report."""

from collections import Counter

import ray

TEXTS = ["keep the head", "delete the workers", "keep the logs", "delete the cluster"]


@ray.remote
def count(text: str) -> Counter[str]:
    """Count the words of one text."""
    return Counter(text.split())


ray.init()
total = sum(ray.get([count.remote(text) for text in TEXTS]), Counter())
for word, times in total.most_common(3):
    print(f"{word}: {times}")
