"""How Pulumi marks values that are more than JSON, in states and in what the engine sends (`resource/sig`)."""

SIGNATURE = "4dabf18193072939515e22adb298388d"
"""Key of a mapping that stands for such a value; what it is, is the key's value."""

SECRET = "1b47061264138c4ac30d75fd1eb44270"
"""A secret."""

OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
"""An output, with its value if it is known."""
