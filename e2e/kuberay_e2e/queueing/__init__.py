"""RayJobs in Kueue's queues: scenarios that run on every cluster of the harness, and what they found."""
