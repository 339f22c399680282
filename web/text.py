"""Words that depend on a number, and long texts cut short."""


def plural(number: int, singular: str, many: str = "") -> str:
    """ "label" for 1 and "labels" for any other number; `many` where an s is not enough."""
    return singular if number == 1 else many or f"{singular}s"


def hours_text(hours: float) -> str:
    minutes = round(hours * 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60:02} min"


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
