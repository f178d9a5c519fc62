"""The crash sweep: a scenario is disturbed at every write of the operator, and what it left is judged."""
