"""A question about nothing. Whoever answers it answers questions: what then goes wrong is the fault of what was asked.

Some texts break an endpoint each time: a proxy refuses them, a server dies of them. Where only such calls are left,
none of them can tell that from an endpoint that is down. This call can.
"""

import hashlib
import secrets

from llmjobs.calls import NewCall
from llmjobs.prompts import Message
from llmjobs.steps.asking import Ask

VERSION = 1
TEXT = "Reply with the word ok and nothing else."


def probe_call(wanted: NewCall) -> NewCall:
    # A random part in the text: a cache in front of the endpoint would answer for it.
    text = f"{TEXT}\n(Request {secrets.token_hex(8)}.)"
    sha256 = hashlib.sha256(TEXT.encode()).hexdigest()
    ask = Ask("control", (Message("user", text),), "control", VERSION, "control", sha256)
    return NewCall(ask, wanted.endpoint, wanted.model, 0)
