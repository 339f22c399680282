"""Topics, segments that answers can cite, and qrels by source."""

from django.db import models
from django.db.models import Q

from evaluation.models.campaigns import Campaign, Event
from evaluation.models.fields import new_public_id


class Topic(models.Model):
    """One information need. `topic_id` is the track's; `public_id` is the one in assessors' URLs."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="topics")
    topic_id = models.CharField(max_length=200)
    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    text = models.TextField()
    position = models.PositiveIntegerField(help_text="order in which the topics were loaded")
    language = models.CharField(max_length=35, blank=True, help_text="BCP 47; empty: the campaign's")
    problem_statement = models.TextField(blank=True)
    background = models.TextField(blank=True)
    article = models.TextField(blank=True, help_text="the text of an article that is asked about")
    extra = models.JSONField(default=dict, blank=True, help_text="keys of the file that Assay has no field for")
    event = models.ForeignKey(Event, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "topic_id"], name="topic_once"),
            models.CheckConstraint(condition=~Q(topic_id="") & ~Q(text=""), name="topic_not_empty"),
        ]

    def __str__(self) -> str:
        return self.topic_id


class TopicTag(models.Model):
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="tags")
    name = models.CharField(max_length=200)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["topic", "name"], name="topic_tag_once")]

    def __str__(self) -> str:
        return self.name


class Segment(models.Model):
    """A passage that qrels grade and answers cite. Named before its text is loaded, or without it ever."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="segments", db_index=False)
    docid = models.CharField(max_length=200)
    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    document = models.CharField(max_length=200, help_text="the document this is a segment of")
    has_text = models.BooleanField(default=False)
    text = models.TextField(blank=True)
    title = models.TextField(blank=True)
    headings = models.TextField(blank=True)
    url = models.TextField(blank=True)
    start_char = models.PositiveIntegerField(null=True, blank=True)
    end_char = models.PositiveIntegerField(null=True, blank=True)
    event = models.ForeignKey(Event, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "docid"], name="segment_once"),
            models.CheckConstraint(condition=Q(has_text=True) | Q(text=""), name="segment_text_said"),
        ]

    def __str__(self) -> str:
        return self.docid


class Candidate(models.Model):
    """A passage that a search found for a topic. No grade is known of it."""

    topic = models.ForeignKey(Topic, on_delete=models.PROTECT, related_name="+", db_index=False)
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, related_name="+")
    event = models.ForeignKey(Event, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["topic", "segment"], name="candidate_once")]

    def __str__(self) -> str:
        return f"{self.segment} for {self.topic}"


class QrelSource(models.Model):
    """Source of grades: NIST, UMBRELA, or any other name."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="qrel_sources")
    name = models.CharField(max_length=200)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["campaign", "name"], name="qrel_source_once")]

    def __str__(self) -> str:
        return self.name


class Qrel(models.Model):
    """One relevance grade of one segment for one topic, by one source."""

    source = models.ForeignKey(QrelSource, on_delete=models.PROTECT, related_name="qrels", db_index=False)
    topic = models.ForeignKey(Topic, on_delete=models.PROTECT, related_name="+")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, related_name="+")
    grade = models.SmallIntegerField()
    event = models.ForeignKey(Event, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "topic", "segment"], name="qrel_once"),
            models.CheckConstraint(condition=Q(grade__gte=-2), name="qrel_grade"),
        ]

    def __str__(self) -> str:
        return f"{self.source} {self.grade}"
