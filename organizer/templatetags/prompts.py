"""The prompts behind calls."""

from django import template

from llmjobs.models import Call
from llmjobs.prompt_queries import ref_of_call

register = template.Library()


@register.simple_tag
def prompt_ref(call: Call) -> str:
    """The prompt by which a call was made, where its very wording is there to be read; else nothing."""
    return ref_of_call(call.template, call.template_version, call.template_sha256)
