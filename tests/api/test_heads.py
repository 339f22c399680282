"""HEAD: the headers of an answer and nothing of its body, which no server may send."""

import pytest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from web.middleware import HeadersMiddleware


class Rows:
    closed = False

    def __iter__(self) -> "Rows":
        return self

    def __next__(self) -> bytes:
        raise AssertionError("a row was read")

    def close(self) -> None:
        self.closed = True


@pytest.mark.django_db  # a stream that ends tells Django to look after its connections
@pytest.mark.parametrize("kind", ["text/csv", "text/html"])
def test_a_head_has_no_body(kind: str) -> None:
    request = HttpRequest()
    request.method = "HEAD"
    rows = Rows()
    stream = StreamingHttpResponse(rows, content_type=kind)
    HeadersMiddleware(lambda _: stream)(request)
    assert list(stream) == []
    stream.close()
    assert rows.closed
    page = HttpResponse("x" * 500, content_type=kind)
    HeadersMiddleware(lambda _: page)(request)
    assert (page.content, page["Content-Length"], page["Content-Type"]) == (b"", "500", kind)
