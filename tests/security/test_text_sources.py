"""TEXT_SOURCES binds a key to an address, and no other address or secret can be meant."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from web.outbound import TextSource, text_sources

CORPUS = "https://corpus.example.org/texts/{docid}"


def read(text: str, **more: str) -> tuple[TextSource, ...]:
    return text_sources({"TEXT_SOURCES": text, "TEXT_KEY_LAB": "tk-canary"} | more)


def test_sources_are_read_with_and_without_key_and_number() -> None:
    local = "http://127.0.0.1:8081/?id={docid}"
    assert read(f"Corpus = {CORPUS} TEXT_KEY_LAB 8; Local={local} ; Third = {CORPUS}.txt 2;") == (
        TextSource("Corpus", CORPUS, "TEXT_KEY_LAB", 8),
        TextSource("Local", local),
        TextSource("Third", f"{CORPUS}.txt", "", 2),
    )
    assert text_sources({}) == ()


@pytest.mark.parametrize(
    "address",
    [
        "",
        "corpus.example.org/{docid}",
        "ftp://corpus.example.org/{docid}",
        "https://corpus.example.org/texts",
        "https://{docid}.example.org/texts",
        "https://corpus.example.org:{docid}/texts",
        "https://corpus.example.org/{docid}/{docid}",
        "https://user:canary@corpus.example.org/{docid}",
        "https://corpus.example.org/{docid}#part",
        "https://corpus.example.org/" + "x" * 200 + "/{docid}",
    ],
)
def test_an_address_that_could_lead_elsewhere_is_refused(address: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"TEXT_SOURCES: Corpus: the address is http") as error:
        read(f"Corpus = {address}")
    assert "canary" not in str(error.value)


@pytest.mark.parametrize(
    "key", ["OPENAI_API_KEY", "LLM_KEY_LAB", "TEXT_KEY_", "TEXT_KEY_LAB_FILE", "tk-canary", "A B"]
)
def test_a_key_of_another_name_is_refused_in_words(key: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"Corpus: the key is named by .* TEXT_KEY_") as error:
        read(f"Corpus = {CORPUS} {key}")
    assert "canary" not in str(error.value)


@pytest.mark.parametrize("number", ["0", "33", "9999999999999"])
def test_requests_at_once_have_a_limit(number: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="from 1 to 32 requests at once"):
        read(f"Corpus = {CORPUS} {number}")


@pytest.mark.parametrize("second", [f"corpus = {CORPUS}/more", f"Other = {CORPUS}"])
def test_a_name_or_address_stands_once(second: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="another source has this name or address"):
        read(f"Corpus = {CORPUS}; {second}")
