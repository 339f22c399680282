"""The answers of a judging task, one at a time, as fragments that the desk's script puts in."""

from django.http import HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.views.decorators.http import require_GET

from accounts.http import UserRequest
from assessor.json_views import desk_json
from evaluation.blind.judging import shown_answer


@require_GET
@desk_json
def answer(request: UserRequest, public_id: str, answer_id: str) -> HttpResponse:
    """Return an answer's text, and the passages it cites where support is judged. Asking marks nothing as seen."""
    shown, passages = shown_answer(public_id, request.user, answer_id)
    cited = {one.public_id: render_to_string("assessor/cited_part.html", {"passage": one}) for one in passages}
    html = render_to_string("assessor/answer_part.html", {"answer": shown})
    return JsonResponse({"id": answer_id, "html": html, "passages": cited})
