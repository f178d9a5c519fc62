"""Container images of the real cluster, made on this machine: node, Ray, operator, Kueue.

They are for machines that reach package registries but no container registry. No container engine takes part in
making them: an image is a file tree and a few lines of JSON in a tar archive, which every engine loads.
"""

from kuberay_toolchain.images.catalogue import IMAGES
from kuberay_toolchain.images.recipes import Image, ProgramImage, SystemImage
from kuberay_toolchain.images.store import Images

__all__ = ["IMAGES", "Image", "Images", "ProgramImage", "SystemImage"]
