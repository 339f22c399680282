"""Handed-out work in words and marks, for the organizer's templates and for the sentences of their pages."""

from datetime import date, datetime
from typing import Any, Final

from django import template
from django.template import Context
from django.template.backends.utils import csrf_input
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import slugify

from assessor.progress.matrix import MatrixCell, open_remarks_for
from evaluation.campaigns.access import may_organize
from evaluation.labels import AssignmentLabel
from evaluation.models import Campaign, Topic
from evaluation.stages import Stage
from evaluation.templatetags.labels import label
from evaluation.terms import Origin, TaskState
from llmjobs.kinds import WEIGHED, WINNERS
from llmjobs.models import Call
from llmjobs.prompt_store import ref_of_call
from llmjobs.prompts.template import PromptTask
from organizer.navigation import page_in
from web.templatetags.assay import DASH, importance
from web.text import hours_text, plural

register = template.Library()

PROMPT_TASKS: Final[dict[PromptTask, str]] = {
    "nuggetize": "Make nuggets",
    "importance": "Weigh nuggets",
    "assign": "Label answers",
    "support": "Judge citations",
    "relevance": "Grade passages",
    "rubric": "Complete rubrics",
    "battle": "Compare answers",
}


def days_text(first: date, last: date) -> str:
    """Range of days; a shared month or year is written only once."""
    if first == last:
        return f"on {date_format(first, 'j M Y')}"
    form = "j M" if first.year == last.year else "j M Y"
    if (first.year, first.month) == (last.year, last.month):
        form = "j"
    return f"{date_format(first, form)} to {date_format(last, 'j M Y')}"


STATES = {
    "not started": ("□", "new"),
    "in progress": ("◧", "going"),
    "submitted": ("■", "done"),
    "reopened": ("◪", "again"),
    "blocked": ("⊠", "blocked"),
    "withdrawn": ("\N{EN DASH}", "gone"),
}
STATE_MARK: Final = '<span class="state state-{}"><span class="glyph" aria-hidden="true">{}</span> {}</span>'


@register.simple_tag
def task_state(state: str, version: int = 1) -> SafeString:
    glyph, kind = STATES[state]
    text = f"{state} v{version}" if state == "submitted" or version > 1 else state
    return format_html(STATE_MARK, kind, glyph, text)


ACT_WORDS = {
    "reassign": "Hand to",
    "reschedule": "Due date",
    "reopen": "Reopen",
    "block": "Block",
    "unblock": "Unblock",
    "withdraw": "Withdraw",
}


@register.filter
def initials(name: str) -> str:
    words = name.split()
    return (words[0][0] + words[-1][0] if len(words) > 1 else name.strip()[:2]).upper()


CHIP: Final = '<a class="task-chip is-{}" href="tasks/{}/" aria-label="{}">{} <small>{}</small>{}{}</a>'
EMPTY: Final = (
    '<a class="task-chip is-empty" href="hand-out/?choose=ticked&amp;stage={}&amp;topics={}" title="Hand out"'
    ' aria-label="Hand out {}, {}">+</a>'
)
LATE_MARK, ASKS_MARK = SafeString('<b class="is-late">late</b>'), SafeString('<b class="asks">?</b>')


@register.simple_tag
def task_chip(cell: MatrixCell) -> SafeString:
    # A matrix has hundreds: a template for each would be most of the page's time. Links are relative to the matrix.
    # The style sheet draws the mark of a state, and the page's script makes the box of a tick.
    task, (done, all_) = cell.task, cell.progress.done_of_all
    shown = f"v{task.version}" if task.state == TaskState.SUBMITTED else f"{done}/{all_}"
    late, asks = (LATE_MARK if task.is_late else ""), (ASKS_MARK if cell.asking else "")
    open_remarks = f"{cell.asking} open {plural(cell.asking, 'remark')}" if cell.asking else ""
    words = (task.assessor.name, task.stage.words, task.state, shown, late and "late", open_remarks)
    name, kind = ", ".join(filter(None, words)), slugify(task.state)
    return format_html(CHIP, kind, task.public_id, name, initials(task.assessor.name), shown, late, asks)


@register.simple_tag
def hand_out_chip(topic: Topic, stage: Stage) -> SafeString:
    return format_html(EMPTY, stage, topic.public_id, topic.topic_id, stage.words)


@register.simple_block_tag(takes_context=True)
def act(
    context: Context,
    content: str,
    caption: str,
    page: str = "",
    key: object = None,
    css: str = "toolbar",
    opens: object = False,
) -> SafeString:
    """A form that a button opens. It is sent to a page of the campaign, by its name and key; else to where it is."""
    action = format_html(' action="{}"', page_in(context["campaign"], page, key)) if page else ""
    return format_html(
        '<details class="act"{}><summary>{}</summary><form{} method="post"{}>{}{}</form></details>',
        *(" open" if opens else "", caption, format_html(' class="{}"', css) if css else "", action),
        *(csrf_input(context["request"]), content),
    )


register.filter("act_word", lambda act: ACT_WORDS[act])
register.filter("prompt_task", lambda task: PROMPT_TASKS[task])
register.filter("origin_words", lambda origin: Origin(origin).words)


@register.filter
def age(moment: datetime) -> str:
    passed = timezone.now() - moment
    if passed.days:
        return f"{passed.days} d"
    hours, minutes = passed.seconds // 3600, passed.seconds // 60
    if hours:
        return f"{hours} h"
    return f"{minutes or 1} min"


@register.simple_tag
def since(moment: datetime | date) -> SafeString:
    if isinstance(moment, datetime):
        return format_html('<time datetime="{}">{}</time>', moment.isoformat(), f"{age(moment)} ago")
    day = date_format(moment, "j M Y")
    return format_html('was due <time datetime="{}">{}</time>', moment.isoformat(), day)


@register.filter
def hours(number: float | None) -> str:
    return DASH if number is None else hours_text(number)


@register.simple_tag(takes_context=True)
def in_inbox(context: dict[str, Any], campaign: Campaign) -> int:
    """Messages of people that wait for an answer; what machines announce does not count."""
    return open_remarks_for(context["request"].user, campaign)


@register.inclusion_tag("organizer/how_to_load.html", takes_context=True)
def how_to_load(context: dict[str, Any], kind: str) -> dict[str, Any]:
    campaign: Campaign = context["campaign"]
    return {"slug": campaign.slug, "kind": kind, "may_load": may_organize(context["request"].user, campaign)}


@register.simple_tag(takes_context=True)
def prompt_ref(context: Context, call: Call) -> str:
    """Link to a call's prompt, only where its exact text is stored."""
    return ref_of_call(context["request"].user, call.template, call.template_version, call.template_sha256)


@register.simple_tag
def tried_label(task: str, code: int | None) -> SafeString | str:
    """Label of a trial as mark and word; None is pending, a value outside the scale is failed."""
    if task in ("assign", "support"):
        return label(code, support=task == "support")
    if code is None or code < 0:
        return label(None if code is None else AssignmentLabel.FAILED)
    if task == "battle":
        return WINNERS[code]
    return importance(WEIGHED[code]) if task == "importance" else f"grade {code}"
