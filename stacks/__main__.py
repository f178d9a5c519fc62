"""The Pulumi program: KubeRay, Kueue and RayJobs, as the configuration of the stack describes them."""

from pathlib import Path

from stack_config import StackConfig, stack_values
from stack_file import StackFile
from stack_program import StackProgram

file = StackFile.of_running_stack(Path(__file__).parent).holding(stack_values())
StackProgram(StackConfig.load(file), file).declare()
