"""Desk settings of a user: text size, keys, moving on. One value per account, for every device."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from accounts.models import User

READING_SIZES = range(15, 21)  # pixels, at the browser's usual text size
READING_SIZE = 17


@dataclass(frozen=True, slots=True)
class DeskSettings:
    """`keys` holds only what differs from the defaults: the keys of an action by the action's id."""

    reading_size: int = READING_SIZE
    single_keys: bool = True
    hints: bool = True
    auto_scroll: bool = False
    move_on: bool = True
    start_at_text: bool = False
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def desk_settings_of(user: User) -> DeskSettings:
    """Missing or invalid values take their default, so that settings never break a desk."""
    stored: dict[str, Any] = user.desk_settings if isinstance(user.desk_settings, dict) else {}
    size = int(stored["reading_size"]) if stored.get("reading_size") in READING_SIZES else READING_SIZE
    keys = stored.get("keys")
    return DeskSettings(
        reading_size=size,
        single_keys=bool(stored.get("single_keys", True)),
        hints=bool(stored.get("hints", True)),
        auto_scroll=bool(stored.get("auto_scroll", False)),
        move_on=bool(stored.get("move_on", True)),
        start_at_text=bool(stored.get("start_at_text", False)),
        keys={str(name): tuple(map(str, chords)) for name, chords in keys.items() if isinstance(chords, list)}
        if isinstance(keys, dict)
        else {},
    )


def save_desk_settings(user: User, settings: DeskSettings) -> None:
    user.desk_settings = {
        "reading_size": settings.reading_size,
        "single_keys": settings.single_keys,
        "hints": settings.hints,
        "auto_scroll": settings.auto_scroll,
        "move_on": settings.move_on,
        "start_at_text": settings.start_at_text,
        "keys": {name: list(chords) for name, chords in settings.keys.items()},
    }
    user.save(update_fields=["desk_settings"])
