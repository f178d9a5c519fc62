"""The Pulumi policy pack in this folder: `pulumi preview --policy-pack policies`."""

from pathlib import Path

from kuberay_policies.pack import serve

HERE = Path(__file__).resolve().parent

serve((Path.cwd(), HERE, HERE.parent))
