"""Reminders of what is past its due date: on the assessors' lists of tasks, and by mail."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter

from django import forms
from django.contrib import messages
from django.core.mail import EmailMessage
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from accounts.http import UserRequest
from accounts.models import User
from assessor.progress.matrix import late, tasks_for
from evaluation.campaigns.access import may_organize
from evaluation.models import Campaign, Task
from evaluation.tasks.changes import LONGEST_REASON
from evaluation.tasks.remarks import remind, reminded_today
from organizer.access import get_campaign
from organizer.forms import posted, refusals_on
from web.fields import TextField
from web.mail import sends_mail
from web.text import plural

PROPOSED = "These tasks are past their due date. Please go on with them, or say what is in the way."


class RemindForm(forms.Form):
    people = forms.ModelMultipleChoiceField(
        User.objects.none(),
        to_field_name="username",
        error_messages={"required": "Tick at least one person.", "invalid_choice": "%(value)s is not late."},
    )
    text = TextField(max_length=LONGEST_REASON, widget=forms.Textarea({"rows": 3, "cols": 60}), label="Text")


@require_http_methods(["GET", "HEAD", "POST"])
def remind_late(request: UserRequest, slug: str) -> HttpResponse:
    campaign = get_campaign(request.user, slug, may_organize)
    tasks = _late_tasks(request.user, campaign)
    form = RemindForm(posted(request), initial={"text": PROPOSED})
    form.fields["people"].queryset = User.objects.filter(pk__in=tasks)  # type: ignore[attr-defined]
    if form.is_valid():
        ticked = [task for person in form.cleaned_data["people"] for task in tasks[person.pk]]
        with refusals_on(form):
            text = form.cleaned_data["text"]
            about = remind(campaign=campaign, tasks=ticked, text=text, actor=request.user)
            people = {task.assessor: tasks[task.assessor_id] for task in about}
            unreached = [
                person.name for person, late in people.items() if not _mail(request, campaign, late, text)
            ]
            messages.success(request, f"Reminded: {len(people):,} {plural(len(people), 'person', 'people')}.")
            if unreached:
                messages.warning(request, f"No mail reached {', '.join(unreached)}.")
            return redirect("organizer:today", campaign.slug)
    reminded, wanted = reminded_today(campaign), (request.POST or request.GET).getlist("people")
    context = {
        "campaign": campaign,
        "form": form,
        "people": [(found[0].assessor, found, person in reminded) for person, found in tasks.items()],
        "wanted": wanted or [found[0].assessor.username for found in tasks.values()],
        "all_reminded": reminded >= tasks.keys(),
    }
    return render(request, "organizer/remind.html", context, status=422 if form.errors else 200)


def _late_tasks(viewer: User, campaign: Campaign) -> dict[int, list[Task]]:
    rows = tasks_for(viewer, campaign).filter(late(), assessor__is_active=True).order_by("assessor", "due", "pk")
    by_person = groupby(rows.select_related("assessor", "topic"), attrgetter("assessor_id"))
    return {person: list(tasks) for person, tasks in by_person}


def _mail(request: UserRequest, campaign: Campaign, tasks: Sequence[Task], text: str) -> bool:
    person, home = tasks[0].assessor, request.build_absolute_uri(reverse("assessor:home"))
    body = render_to_string("organizer/reminder.txt", {"text": text, "tasks": tasks, "home": home})
    subject = f"{' '.join(campaign.name.split())}: {len(tasks)} {plural(len(tasks), 'task')} past the due date"
    try:
        return bool(person.email and sends_mail() and EmailMessage(subject, body, None, [person.email]).send())
    except OSError:  # of the connection, and of SMTP
        return False
