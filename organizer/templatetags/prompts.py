"""The prompts behind calls."""

from django import template
from django.template import Context
from django.utils.safestring import SafeString

from evaluation.terms import AssignmentLabel
from llmjobs.models import Call
from llmjobs.prompt_queries import ref_of_call
from llmjobs.trial_drawing import WEIGHED
from web.templatetags.assay import importance, label

register = template.Library()


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
    return importance(WEIGHED[code]) if task == "importance" else f"grade {code}"
