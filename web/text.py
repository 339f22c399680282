"""Words that depend on a number."""


def plural(number: int, singular: str, many: str = "") -> str:
    """ "label" for 1 and "labels" for any other number; `many` where an s is not enough."""
    return singular if number == 1 else many or f"{singular}s"
