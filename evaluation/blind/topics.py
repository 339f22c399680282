"""Topics as desks show them: what a request says beside its title, and in which language."""

from dataclasses import dataclass

from evaluation.models import Campaign, Topic

NAMES = {
    "narrative": "Narrative",
    "problem_statement": "Problem statement",
    "background": "Background",
    "article": "Article",
}


@dataclass(frozen=True, slots=True)
class TopicText:
    """One text of a topic under its name."""

    name: str
    text: str


def topic_texts(topic: Topic) -> tuple[TopicText, ...]:
    """Return a topic's texts in the order in which they are shown, empty ones left out."""
    texts = {
        "narrative": str(topic.extra.get("narrative", "")),
        "problem_statement": topic.problem_statement,
        "background": topic.background,
        "article": topic.article,
    }
    return tuple(TopicText(NAMES[name], text) for name, text in texts.items() if text.strip())


@dataclass(frozen=True, slots=True)
class TopicHead:
    """Head of a topic's page, above its parts."""

    language: str
    texts: tuple[TopicText, ...]


def topic_head(campaign: Campaign, topic: Topic) -> TopicHead:
    """Return a topic's language, else the campaign's, and its texts."""
    return TopicHead(topic.language or campaign.language, topic_texts(topic))
