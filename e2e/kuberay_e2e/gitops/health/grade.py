"""How well an object is, in the words of the sync engines."""

from enum import Enum


class Grade(Enum):
    """How well an object is.

    Suspended is what Argo CD says of a suspended Job, and Current what Flux says of it: an object that waits for a
    queue or a person is all that a sync can make of it, so that Flux goes on. In Argo CD it keeps later waves of the
    same sync waiting, as a suspended Job does; such objects belong into the last wave.

    Attributes:
        argocd: Health status of Argo CD: Healthy, Progressing, Suspended, Degraded or Unknown.
        flux: Status that Flux computes: Current, InProgress or Failed.
        sentence: What it means.
    """

    HEALTHY = ("Healthy", "Current", "it is what it should be")
    PROGRESSING = ("Progressing", "InProgress", "it is on its way")
    SUSPENDED = ("Suspended", "Current", "it waits for a queue or a person")
    BLOCKED = ("Degraded", "InProgress", "it cannot go on as things are, but the operator tries again")
    DEGRADED = ("Degraded", "Failed", "it has failed for good")
    UNKNOWN = ("Unknown", "InProgress", "its status has a value that no supported version writes")

    def __init__(self, argocd: str, flux: str, sentence: str) -> None:
        self.argocd = argocd
        self.flux = flux
        self.sentence = sentence
