"""Entry point of the Pulumi plugin: serves the components to programs in any language."""

import sys

from pulumi_kuberay.hosting.server import main

main(sys.argv[1:])
