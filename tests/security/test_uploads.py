"""Files that a request brings: little before anybody is known, much only for an import of somebody signed in."""

import io
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.timezone import now

from accounts.tokens import make_token
from tests.organizer.data.test_import_wizard import DATA
from tests.worlds.campaign import World

pytestmark = pytest.mark.django_db

MIB = 1024**2
EDGE = "edge"
KEY = "k" * 32
TYPE = f"multipart/form-data; boundary={EDGE}"


class Counted(io.BytesIO):
    taken = 0

    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        self.taken += len(found)
        return found


def read_of(client: Client, address: str, mebibytes: int) -> tuple[int, int]:
    """Send a file; return the status and how many bytes of the request were read."""
    head = f'--{EDGE}\r\nContent-Disposition: form-data; name="files"; filename="t.tsv"\r\n\r\n'
    body = head.encode() + b"t3\t" + b"x" * (mebibytes * MIB) + f"\r\n--{EDGE}--\r\n".encode()
    sent = Counted(body)
    client.cookies["csrftoken"] = KEY
    extra = {"wsgi.input": sent, "CONTENT_TYPE": TYPE, "CONTENT_LENGTH": str(len(body))}
    response = client.post(address, **extra)  # type: ignore[arg-type]
    return response.status_code, sent.taken


@pytest.mark.parametrize(
    "address", ["/accounts/login/", "/desk/abc/ops/", "/invitation/", f"{DATA}load/topics/", "/nowhere/"]
)
def test_a_stranger_sends_at_most_a_mebibyte(world: World, address: str) -> None:
    status, taken = read_of(Client(enforce_csrf_checks=True), address, 6)
    assert status in (302, 403, 404)
    assert taken < MIB + MIB // 4


def test_a_stranger_sends_no_file_to_the_api(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    status, taken = read_of(client, "/api/v1/campaigns/river/imports/topics", 6)
    assert status in (401, 404)
    assert taken == 0


def test_no_page_but_an_import_stores_much_of_somebody_signed_in(world: World) -> None:
    olga = world.client("olga")
    assert read_of(olga, f"{DATA}load/topics/", 6)[0] in (302, 422)
    olga.handler.enforce_csrf_checks = True  # the check reads the form, as in a browser
    status, taken = read_of(olga, "/campaigns/new/", 6)
    assert status == 403
    assert taken < 3 * MIB


@pytest.mark.parametrize("name", ["ann", "rita", "audrey", "sam"])
def test_an_import_stores_much_of_those_only_who_may_load_data(
    world: World, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    monkeypatch.setattr(
        "django.core.files.uploadhandler.TemporaryFileUploadHandler.receive_data_chunk",
        lambda _self, raw, _start: written.append(len(raw)),
    )
    assert read_of(world.client(name), f"{DATA}load/topics/", 6)[0] in (403, 404)
    assert sum(written) < 3 * MIB
    read_of(world.client("olga"), f"{DATA}load/topics/", 6)
    assert sum(written) > 5 * MIB


def test_a_large_file_comes_in_by_a_token(world: World) -> None:
    olga = world.people["olga"]
    _, raw = make_token(user=olga, name="import", scopes=["read", "write"], expires_at=now() + timedelta(days=1))
    client = Client(headers={"authorization": f"Bearer {raw}"})
    file = SimpleUploadedFile("t.tsv", b"".join(b"big%d\t%s\n" % (n, b"x" * 900_000) for n in range(4)))
    assert file.size
    assert file.size > 3 * MIB
    answer = client.post(f"/api/v1/campaigns/{world.campaign.slug}/imports/topics", {"file": file})
    assert answer.status_code in (200, 201), answer.content[:500]
