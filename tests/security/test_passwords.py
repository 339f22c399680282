"""A password is no short piece that is repeated."""

import pytest
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError


@pytest.mark.parametrize("password", ["passwordpassword", "PasswordpassworD", "abcabcabcabcabc", "zzzzzzzzzzzzz"])
def test_a_repeated_piece_is_refused(password: str) -> None:
    with pytest.raises(ValidationError):
        validate_password(password)


@pytest.mark.parametrize("password", ["a long enough sentence", "bookkeeper of the lake", "kestrel-kestrel-owl"])
def test_other_passwords_are_taken(password: str) -> None:
    validate_password(password)
