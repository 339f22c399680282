"""Rows of work in the making at the desks, and of practice: only desks write them, and no report reads them.

Nothing here leads to runs, judges or LLM labels: what is not stored here cannot reach a desk. Submitting copies the
work to nugget lists, `Assignment` and `SupportJudgment`, where reports read it.
"""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from evaluation.labels import BATTLE_LABELS, CITATION_LABELS, NUGGET_LABELS, LabelSet
from evaluation.models.battles import Battle
from evaluation.models.campaigns import Campaign, Event
from evaluation.models.corpus import Segment
from evaluation.models.fields import choices_of, new_public_id, within_weights
from evaluation.models.nuggets import Nugget, NuggetVersion
from evaluation.models.querysets import CurrentQuerySet
from evaluation.models.runs import Answer, Sentence
from evaluation.models.tasks import Task
from evaluation.stages.grade import HIGHEST
from evaluation.terms import Decision, Importance, Making, PageState, PassageMark, PracticeKind, SegmentKind


class Desk(models.Model):
    """State of a task's page beside the rows: its holder, and text that is open.

    `holder` is the window that may write. A lease that ran out and that nobody took stays valid. `holder_page` decides
    whether another window may take the desk over unaided, and whether its work ended in a crash.
    """

    task = models.OneToOneField(Task, on_delete=models.PROTECT, related_name="+", primary_key=True)
    holder = models.CharField(max_length=36, blank=True)
    held_at = models.DateTimeField(null=True, blank=True)
    holder_page = models.CharField(
        max_length=7,
        choices=choices_of(PageState),
        default=PageState.VISIBLE,
        help_text="how the holder's newest heartbeat reported its page",
    )
    composer = models.JSONField(default=dict, blank=True, help_text="text being written that is no nugget yet")
    place = models.JSONField(default=dict, blank=True, help_text="scroll, row in focus, filters, splitter")

    def __str__(self) -> str:
        return f"desk of {self.task}"


class WorkingNugget(models.Model):
    """The current state of one nugget of a list in the making. `key` is made by the window that added it."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+", db_index=False)
    key = models.CharField(max_length=36)
    version = models.PositiveIntegerField(default=1, help_text="goes up with every change")
    number = models.PositiveIntegerField(help_text="the N of the screen; never changes, never given twice")
    position = models.FloatField()
    text = models.TextField()
    importance = models.PositiveSmallIntegerField(default=Importance.UNKNOWN)
    weight = models.FloatField(
        null=True, blank=True, help_text="of a rubric; below 0: an answer must not contain it"
    )
    group = models.TextField(blank=True, help_text="as the draft has it, for instance a type or axis")
    decision = models.CharField(max_length=10, choices=choices_of(Decision), default=Decision.UNDECIDED)
    making = models.CharField(max_length=10, choices=choices_of(Making))
    parents = models.JSONField(default=list, blank=True, help_text="keys of the rows it was merged or split from")
    evidence = models.JSONField(
        default=list, blank=True, help_text="pairs of a segment's public id and a sentence"
    )
    draft_importance = models.PositiveSmallIntegerField(
        default=Importance.UNKNOWN, help_text="the draft's own, where it has one"
    )
    draft = models.ForeignKey(NuggetVersion, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    nugget = models.ForeignKey(Nugget, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["task", "key"], name="working_nugget_once"),
            models.UniqueConstraint(fields=["task", "number"], name="working_nugget_number"),
            models.CheckConstraint(condition=Q(decision__in=list(Decision)), name="working_nugget_decision"),
            models.CheckConstraint(condition=Q(making__in=list(Making)), name="working_nugget_making"),
            models.CheckConstraint(condition=Q(importance__in=list(Importance)), name="working_nugget_importance"),
            models.CheckConstraint(condition=within_weights("weight"), name="working_nugget_weight"),
            models.CheckConstraint(
                condition=Q(draft_importance__in=list(Importance)), name="working_nugget_draft_importance"
            ),
            models.CheckConstraint(
                condition=Q(making=Making.PROPOSED, draft__isnull=False)
                | (~Q(making=Making.PROPOSED) & Q(draft=None)),
                name="working_nugget_draft_of_proposed",
            ),
        ]

    def __str__(self) -> str:
        return self.text


class MarkedPassage(models.Model):
    """Mark of a task's assessor on one passage. No row: unread."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+", db_index=False)
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, related_name="+")
    mark = models.CharField(max_length=12, choices=choices_of(PassageMark))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "segment"], name="marked_passage_once"),
            models.CheckConstraint(condition=Q(mark__in=list(PassageMark)), name="marked_passage_mark"),
        ]

    def __str__(self) -> str:
        return self.mark


class Operation(models.Model):
    """One thing an assessor did at a desk, with what was before and after. Never changed, never deleted.

    `op_id` comes from the window, so that sending it twice has one effect. `step` groups operations that are
    undone together, such as the autosaves of one stretch of typing.
    """

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+", db_index=False)
    seq = models.PositiveIntegerField()
    op_id = models.UUIDField()
    step = models.UUIDField()
    submission = models.PositiveSmallIntegerField(help_text="the submission that was being made")
    kind = models.CharField(max_length=20)
    payload = models.JSONField(default=dict)
    before = models.JSONField(default=dict, help_text="rows touched, by key, as they were; null: not there")
    after = models.JSONField(default=dict)
    source = models.CharField(max_length=10, help_text="key, mouse, text or restore")
    window = models.CharField(max_length=36)
    client_at = models.DateTimeField(help_text="by the clock of the assessor's machine")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["seq"]
        constraints = [
            models.UniqueConstraint(fields=["task", "seq"], name="operation_seq"),
            models.UniqueConstraint(fields=["op_id"], name="operation_once"),
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.kind}"


class TimeSegment(models.Model):
    """One stretch of one window: of one kind, without a gap of input of 30 s or more, or such a gap itself.

    Times are the server's. `number` is the window's own count, so that a beat sent twice changes one row.
    """

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+", db_index=False)
    submission = models.PositiveSmallIntegerField(help_text="the submission that was being made")
    window = models.CharField(max_length=36)
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=10, choices=choices_of(SegmentKind))
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    words = models.PositiveIntegerField(default=0, help_text="words on screen: the idle limit follows from them")
    blurred = models.BooleanField(default=False, help_text="the window was visible and another one had the focus")
    offline = models.BooleanField(default=False, help_text="uploaded later, bounded by the server's gap")
    gap_answer = models.CharField(
        max_length=10, blank=True, help_text="of a gap: reading or away, by its assessor"
    )
    item = models.CharField(max_length=36, blank=True, help_text="the nugget or passage in focus")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "window", "number"], name="time_segment_once"),
            models.CheckConstraint(condition=Q(ended_at__gte=F("started_at")), name="time_segment_not_negative"),
            models.CheckConstraint(condition=Q(kind__in=list(SegmentKind)), name="time_segment_kind"),
            models.CheckConstraint(
                condition=Q(gap_answer__in=["", "reading", "away"]), name="time_segment_gap_answer"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.ended_at - self.started_at}"


def _given_by_people(labels: LabelSet) -> list[int]:
    return sorted(int(label.code) for label in labels.by_people)


class WorkingLabel(models.Model):
    """Common columns of labels in the making. No label: it was cleared."""

    task = models.ForeignKey(Task, on_delete=models.PROTECT, related_name="+", db_index=False)
    version = models.PositiveIntegerField(default=1, help_text="goes up with every change")
    label = models.PositiveSmallIntegerField(null=True)
    reason = models.TextField(blank=True, help_text="why it cannot be judged")

    class Meta:
        abstract = True


class WorkingJudgment(WorkingLabel):
    """Label of one unit of a stage without a table of its own, as its assessor says so far: see `Judgment`."""

    unit = models.CharField(max_length=36)
    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, null=True, related_name="+")
    other = models.ForeignKey(Answer, on_delete=models.PROTECT, null=True, related_name="+")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, null=True, related_name="+")
    battle = models.ForeignKey(Battle, on_delete=models.PROTECT, null=True, related_name="+")
    extras = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "unit"], name="working_judgment_once"),
            models.CheckConstraint(
                condition=Q(answer__isnull=False) | Q(segment__isnull=False) | Q(battle__isnull=False),
                name="working_judgment_of_something",
            ),
        ]

    def __str__(self) -> str:
        return "cleared" if self.label is None else self.task.stage.labels.by_code[self.label].word


class WorkingAssignment(WorkingLabel):
    """Label of a nugget in an answer, as its assessor says so far."""

    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="+")
    nugget_version = models.ForeignKey(NuggetVersion, on_delete=models.PROTECT, related_name="+")
    sentence = models.PositiveIntegerField(null=True, help_text="of the answer, from 0: where the nugget is")
    first_label = models.PositiveSmallIntegerField(
        null=True, choices=NUGGET_LABELS.choices, help_text="before the nugget sweep changed it"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "answer", "nugget_version"], name="working_assignment_once"),
            models.CheckConstraint(
                condition=Q(label=None) | Q(label__in=_given_by_people(NUGGET_LABELS)),
                name="working_assignment_label",
            ),
        ]

    def __str__(self) -> str:
        return "cleared" if self.label is None else NUGGET_LABELS.by_code[self.label].word


class WorkingSupport(WorkingLabel):
    """Label of a cited segment for a sentence, as its assessor says so far.

    `shown_label` is the machine's label that was on the screen, where the condition shows one; `shown_ms` how long
    it had been there when the first decision fell; `accepted` whether the label was taken over from it.
    """

    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, related_name="+")
    segment = models.ForeignKey(Segment, on_delete=models.PROTECT, related_name="+")
    shown_label = models.PositiveSmallIntegerField(null=True, choices=CITATION_LABELS.choices)
    shown_ms = models.PositiveIntegerField(null=True)
    accepted = models.BooleanField(default=False)
    evidence = models.PositiveIntegerField(null=True, help_text="marked sentence of the segment, from 0")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "sentence", "segment"], name="working_support_once"),
            models.CheckConstraint(
                condition=Q(label=None) | Q(label__in=_given_by_people(CITATION_LABELS)),
                name="working_support_label",
            ),
            models.CheckConstraint(
                condition=Q(accepted=False) | Q(shown_label__isnull=False),
                name="working_support_accepted_of_shown",
            ),
        ]

    def __str__(self) -> str:
        return "cleared" if self.label is None else CITATION_LABELS.by_code[self.label].word


JUDGED = tuple(sorted({*NUGGET_LABELS.codes, *CITATION_LABELS.codes}))
OF_BATTLES = tuple(sorted(BATTLE_LABELS.codes))
"""Of a nugget in an answer, and of a cited passage."""


class PracticeItem(models.Model):
    """One item to practise on. `stands` is false once it was replaced: kept with its answers, and no longer asked."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="+")
    public_id = models.CharField(max_length=16, unique=True, default=new_public_id, editable=False)
    kind = models.CharField(max_length=12, choices=choices_of(PracticeKind))
    position = models.PositiveIntegerField()
    question = models.TextField(blank=True)
    text = models.TextField(
        blank=True, help_text="the answer to read, the one on the left, or a passage; empty for an importance"
    )
    statement = models.TextField(
        help_text="the nugget, the sentence that cites, a passage's title, or the answer on the right"
    )
    label = models.PositiveSmallIntegerField(help_text="the known one, by its code")
    explanation = models.TextField()
    shown_label = models.PositiveSmallIntegerField(null=True, help_text="shown as a machine's, by its code")
    stands = models.BooleanField(default=True, db_default=True)
    event = models.ForeignKey(Event, on_delete=models.PROTECT, related_name="+", db_index=False)

    objects = CurrentQuerySet["PracticeItem"].as_manager()

    class Meta:
        ordering = ["kind", "position", "id"]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=list(PracticeKind)), name="practice_item_kind"),
            models.CheckConstraint(
                condition=Q(kind=PracticeKind.IMPORTANCE, label__in=[Importance.OKAY, Importance.VITAL], text="")
                | Q(kind__in=[PracticeKind.ASSIGN, PracticeKind.SUPPORT], label__in=JUDGED)
                | Q(kind=PracticeKind.GRADE, label__lte=HIGHEST)
                | Q(kind=PracticeKind.BATTLE, label__in=OF_BATTLES),
                name="practice_item_label",
            ),
            models.CheckConstraint(
                condition=Q(shown_label=None) | Q(kind=PracticeKind.SUPPORT, shown_label__in=JUDGED),
                name="practice_item_shown",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.statement[:60]}"


class PracticeAnswer(models.Model):
    """First answer of a person to an item, never changed. It is no label, and counts nowhere."""

    item = models.ForeignKey(PracticeItem, on_delete=models.PROTECT, related_name="+", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    label = models.PositiveSmallIntegerField(help_text="by its code")
    given_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "user"], name="practice_answer_once"),
            models.CheckConstraint(condition=Q(label__lte=HIGHEST), name="practice_answer_label"),
        ]

    def __str__(self) -> str:
        return f"{self.user} on {self.item}"
