"""Addresses that leak on purpose, beside ours: the walk must find each of them, or it proves nothing."""

from collections.abc import Callable
from io import BytesIO

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import path

from config.urls import urlpatterns as ours
from evaluation.models import NuggetSet, Run


def _run() -> str:
    return Run.objects.values_list("run_id", flat=True)[0]


def header(request: HttpRequest) -> HttpResponse:
    return HttpResponse("", headers={"X-Run": _run()})


def etag(request: HttpRequest) -> HttpResponse:
    return HttpResponse("", headers={"ETag": f'"{_run()}"'})


def file_name(request: HttpRequest) -> FileResponse:
    return FileResponse(BytesIO(b"empty"), as_attachment=True, filename=f"{_run()}.csv")


def streamed(request: HttpRequest) -> FileResponse:
    return FileResponse(BytesIO(_run().encode()), filename="list.csv")


def cookie(request: HttpRequest) -> HttpResponse:
    response = HttpResponse("")
    response.set_cookie("last", _run())
    return response


def away(request: HttpRequest) -> HttpResponse:
    return HttpResponseRedirect(f"/runs/{_run()}/")


def broken(request: HttpRequest) -> HttpResponse:
    return HttpResponse(f"no such set: {NuggetSet.objects.all()[0].name}", status=404)


def posted(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"set": _run()} if request.method == "POST" else {})


def fragment(request: HttpRequest) -> HttpResponse:
    return HttpResponse(_run() if request.headers.get("hx-request") else "")


LEAKS: list[Callable[[HttpRequest], object]] = [
    header,
    etag,
    file_name,
    streamed,
    cookie,
    away,
    broken,
    posted,
    fragment,
]
urlpatterns = [*ours, *(path(f"leaks/{leak.__name__}/", leak) for leak in LEAKS)]  # type: ignore[arg-type]
