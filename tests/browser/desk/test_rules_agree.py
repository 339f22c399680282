"""The page shows what the server will write: both apply the same operations to the same rows alike."""

import random
from typing import Any

import pytest
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from assessor.desk.nugget_ops import changes_json
from assessor.rules.nugget_ops import Row, apply
from assessor.rules.op_schemas import PAYLOADS
from evaluation.terms import Making
from web.text import UNSEEN

pytestmark = [
    pytest.mark.walk,
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.xdist_group("browser"),
]

LISTS, OPERATIONS = 25, 40
REPLAY = """async (lists) => {
  const { apply } = await import("/static/js/desk/rules.js");
  return lists.map(({ rows, ops }) => {
    const current = new Map(rows.map((row) => [row.key, row]));
    for (const [kind, payload] of ops) {
      for (const [key, row] of Object.entries(apply(current, kind, payload))) current.set(key, row);
    }
    return Object.fromEntries(current);
  });
}"""


def proposals(count: int) -> dict[str, Row]:
    made = (
        Row(
            key=f"d{n}",
            position=float(n),
            text=f"draft {n}",
            making=Making.PROPOSED,
            draft=f"draft {n}",
            number=n,
            group="form" if n % 2 else "",
        )
        for n in range(1, count + 1)
    )
    return {row.key: row for row in made}


def random_operation(rows: dict[str, Row], dice: random.Random, number: int) -> tuple[str, dict[str, Any]]:
    open_ = [key for key, row in rows.items() if row.decision != "replaced"]
    key, other = dice.choice(open_), dice.choice(open_)
    part = {
        "text": f" \u200btext {number}\u2060 ",
        "importance": dice.randrange(3),
        "evidence": [["p", 1], ["p", None], ["p", 1]],
    } | ({"weight": 2} if number % 2 else {})
    choices: list[tuple[str, dict[str, Any]]] = [
        ("decide", {"key": key, "decision": dice.choice(["kept", "rejected", "undecided"])}),
        ("decide", {"key": key, "decision": "kept", "importance": dice.choice([1, 2])}),
        ("importance", {"key": key, "importance": dice.randrange(3)}),
        ("weight", {"key": key, "weight": dice.choice([None, 5, -2.5])}),
        ("edit", {"key": key, "text": f"\u3164 edited {number} ❤\ufe0f"}),
        ("add", {**part, "key": f"n{number}", "after": dice.choice([key, None])}),
        ("split", {"from": key, "into": [{**part, "key": f"s{number}{letter}"} for letter in "abc"]}),
        ("link", {"key": key, "segment": dice.choice("pq"), "sentence": dice.choice([0, None])}),
        ("unlink", {"key": key, "segment": "p", "sentence": dice.choice([0, 1, None])}),
        ("move", {"key": key, "after": other if other != key else None}),
    ]
    if other != key:
        choices.append(("merge", {**part, "key": f"m{number}", "from": [key, other, key]}))
    return dice.choice(choices)


def random_list(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    dice = random.Random(seed)  # noqa: S311
    rows = proposals(dice.randrange(2, 9))
    first, ops = list(changes_json(rows).values()), []
    for number in range(OPERATIONS):
        kind, payload = random_operation(rows, dice, number)
        ops.append((kind, payload))
        rows |= {key: row for key, row in apply(rows, PAYLOADS[kind].model_validate(payload)).items() if row}
    return {"rows": first, "ops": ops}, changes_json(rows)


def test_page_and_server_make_the_same_of_the_same_operations(chromium: Browser, live_server: LiveServer) -> None:
    page = chromium.new_page()
    page.goto(f"{live_server.url}/accounts/login/")
    inputs, expected = zip(*(random_list(seed) for seed in range(LISTS)), strict=True)
    assert page.evaluate(REPLAY, list(inputs)) == list(expected)
    page.close()


def test_moving_into_one_gap_for_ever_agrees_too(chromium: Browser, live_server: LiveServer) -> None:
    page = chromium.new_page()
    page.goto(f"{live_server.url}/accounts/login/")
    rows = proposals(4)
    first, ops = list(changes_json(rows).values()), []
    for number in range(90):
        payload = {"key": f"d{3 + number % 2}", "after": "d1"}
        ops.append(("move", payload))
        rows |= {key: row for key, row in apply(rows, PAYLOADS["move"].model_validate(payload)).items() if row}
    assert page.evaluate(REPLAY, [{"rows": first, "ops": ops}]) == [changes_json(rows)]
    page.close()


def test_page_and_server_agree_on_what_nobody_sees(chromium: Browser, live_server: LiveServer) -> None:
    page = chromium.new_page()
    page.goto(f"{live_server.url}/accounts/login/")
    every = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    unseen = page.evaluate(
        """async (codes) => {
          const { trimmed } = await import("/static/js/shared/text.js");
          return codes.filter((code) => !trimmed(String.fromCodePoint(code)));
        }""",
        every,
    )
    assert {chr(code) for code in unseen} == UNSEEN
    page.close()
