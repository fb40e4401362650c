"""`rayeval golden label`."""


def label() -> None:
    """Grade."""
