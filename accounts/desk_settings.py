"""Desk settings of a user: text size, keys, moving on. One value per account, for every device."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
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


SWITCHES = {field.name: field.default for field in fields(DeskSettings) if isinstance(field.default, bool)}


def desk_settings_of(user: User) -> DeskSettings:
    """Missing or invalid values take their default, so that settings never break a desk."""
    stored: dict[str, Any] = user.desk_settings if isinstance(user.desk_settings, dict) else {}
    size = int(stored["reading_size"]) if stored.get("reading_size") in READING_SIZES else READING_SIZE
    keys = stored["keys"] if isinstance(stored.get("keys"), dict) else {}
    return DeskSettings(
        reading_size=size,
        **{name: bool(stored.get(name, usual)) for name, usual in SWITCHES.items()},
        keys={str(name): tuple(map(str, chords)) for name, chords in keys.items() if isinstance(chords, list)},
    )


def save_desk_settings(user: User, settings: DeskSettings) -> None:
    # Lists, because a tuple would not be read back in the process that has just saved it.
    keys = {name: list(chords) for name, chords in settings.keys.items()}
    user.desk_settings = asdict(settings) | {"keys": keys}
    user.save(update_fields=["desk_settings"])
