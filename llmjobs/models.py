"""LLM jobs, prompts, trials, and every call with its attempts and its reply. No answered call is ever paid twice."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from evaluation.models import Campaign, Event, Judge, ListedNugget
from jobs.models import Job, WorkItem
from llmjobs.prompts.template import Template
from llmjobs.prompts.texts import TEMPLATES

LONGEST_NAME = 40  # of a prompt: what a call keeps of it


class LlmJob(models.Model):
    job = models.OneToOneField(Job, on_delete=models.CASCADE, primary_key=True, related_name="llm")
    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="+")
    judge = models.ForeignKey(Judge, on_delete=models.PROTECT, related_name="+")
    most_calls = models.PositiveIntegerField(null=True, help_text="requests that may be sent; empty: no limit")
    most_tokens = models.PositiveBigIntegerField(null=True, help_text="of prompts and replies; empty: no limit")
    most_money = models.DecimalField(null=True, max_digits=12, decimal_places=4, help_text="empty: no limit")
    # Counted in the transaction in which requests are noted, because all workers share a budget.
    sent_calls = models.PositiveIntegerField(default=0, db_default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0, db_default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0, db_default=0)
    reserved = models.JSONField(
        default=dict, help_text="by worker and call under way: the most prompt and completion tokens it may take"
    )
    price_table = models.CharField(max_length=40, blank=True, help_text="version; empty: no price is known")
    currency = models.CharField(max_length=3, blank=True)
    prompt_price = models.DecimalField(null=True, max_digits=12, decimal_places=6, help_text="per million tokens")
    completion_price = models.DecimalField(
        null=True, max_digits=12, decimal_places=6, help_text="per million tokens"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(most_money=None) | Q(prompt_price__isnull=False, completion_price__isnull=False),
                name="llm_job_money_has_a_price",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.job.title} by {self.judge}"


class Prompt(models.Model):
    """One version of a prompt. It is never changed: a changed text is the next version, because labels rest on it.

    It belongs to a campaign, or is common: every campaign may read and use it. All versions of a name are of one task,
    and of one campaign or common. No name is that of a built-in prompt.
    """

    campaign = models.ForeignKey(
        Campaign,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="whose members may read it; empty: common",
    )
    task = models.CharField(max_length=20, choices=[(task, task) for task in TEMPLATES])
    name = models.CharField(max_length=LONGEST_NAME)
    version = models.PositiveIntegerField()
    system = models.TextField()
    user = models.TextField()
    sha256 = models.CharField(max_length=64, help_text="of both texts, as calls keep it")
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["task", "name", "version"]
        constraints = [
            models.UniqueConstraint(fields=["name", "version"], name="prompt_name_version"),
            models.CheckConstraint(condition=Q(task__in=list(TEMPLATES)), name="prompt_task"),
            models.CheckConstraint(condition=Q(version__gte=1), name="prompt_version"),
        ]

    def __str__(self) -> str:
        return self.template.ref

    @property
    def template(self) -> Template:
        task = next(task for task in TEMPLATES if task == self.task)
        return Template(task, self.name, self.version, self.system, self.user)


TRIED_TASKS = ["assign", "support", "importance", "relevance", "battle"]


class Trial(models.Model):
    """Prompts tried on the same pairs, which people have labelled. Its labels are in no table that a report reads."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="+")
    task = models.CharField(max_length=20, choices=[(task, task) for task in TRIED_TASKS])
    of = models.CharField(max_length=200, help_text="the nugget set, condition or qrels of people's labels")
    seed = models.PositiveIntegerField()
    pairs = models.PositiveIntegerField(help_text="how many were drawn")
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [models.CheckConstraint(condition=Q(task__in=TRIED_TASKS), name="trial_task")]

    def __str__(self) -> str:
        return f"{self.task} on {self.pairs} pairs of {self.of}"


class TrialJob(models.Model):
    """One prompt of a trial: the job that asks, by a judge set aside whose prompt it is."""

    llm = models.OneToOneField(LlmJob, on_delete=models.PROTECT, primary_key=True, related_name="+")
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="jobs")
    prompt = models.CharField(max_length=60, help_text="name@version")

    class Meta:
        ordering = ["llm"]

    def __str__(self) -> str:
        return f"{self.prompt}: {self.trial}"


class TriedLabels(models.Model):
    """Labels by a tried prompt on the pairs of one item, in their order: codes as in the tables of labels."""

    item = models.OneToOneField(WorkItem, on_delete=models.CASCADE, primary_key=True, related_name="tried")
    labels = models.JSONField()

    def __str__(self) -> str:
        return f"{self.item_id}: {self.labels}"


class Text(models.Model):
    """A rendered message, stored once by its content."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    content = models.TextField()

    def __str__(self) -> str:
        return self.content[:60]


class Call(models.Model):
    """One request, unique by what it asks, of whom, and which replicate it is. Written before it is sent."""

    class State(models.TextChoices):
        SENT = "sent"
        ANSWERED = "answered"
        FAILED = "failed"

    sha256 = models.CharField(max_length=64, unique=True)
    base_url = models.TextField()
    model = models.CharField(max_length=200)
    parameters = models.JSONField()
    messages = models.JSONField(help_text="role and hash of each message's text")
    template = models.CharField(max_length=40)
    template_version = models.PositiveIntegerField()
    template_sha256 = models.CharField(max_length=64)
    replicate = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State.choices, default=State.SENT)
    reply = models.TextField(blank=True)
    model_answered = models.CharField(max_length=200, blank=True, help_text="as the endpoint named it")
    finish_reason = models.CharField(max_length=40, blank=True)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    latency_ms = models.PositiveIntegerField(null=True)
    event = models.OneToOneField(Event, on_delete=models.PROTECT, null=True, related_name="+")
    holder = models.CharField(max_length=100, blank=True, help_text="the worker that waits for the reply")
    made_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["sent", "answered", "failed"]), name="call_state"),
        ]

    def __str__(self) -> str:
        return f"{self.template} {self.sha256[:8]} ({self.state})"


class Attempt(models.Model):
    """One time that a call was sent. Without an end it was under way when its worker died."""

    call = models.ForeignKey(Call, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    sent_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    error = models.CharField(max_length=40, blank=True, help_text="rate_limited, timeout, ...; empty: answered")
    status = models.PositiveIntegerField(null=True)
    message = models.TextField(blank=True)
    latency_ms = models.PositiveIntegerField(null=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["call", "number"], name="attempt_number")]

    def __str__(self) -> str:
        return f"{self.number}: {self.error or 'answered'}"


class CallUse(models.Model):
    """Calls that an item's outcome rests on, in the order in which its step asked."""

    item = models.ForeignKey(WorkItem, on_delete=models.CASCADE, related_name="call_uses")
    call = models.ForeignKey(Call, on_delete=models.PROTECT, related_name="uses")
    number = models.PositiveIntegerField()
    part = models.CharField(max_length=200, help_text="which window or batch")
    notes = models.JSONField(default=list, help_text="forms tolerated, replies refused and why")

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["item", "number"], name="call_use_number")]

    def __str__(self) -> str:
        return f"{self.part}: {self.call}"


class NuggetCalls(models.Model):
    """Calls that a listed nugget rests on: the call that first had its words, and the call with its importance."""

    listed = models.OneToOneField(ListedNugget, on_delete=models.CASCADE, primary_key=True, related_name="+")
    worded = models.ForeignKey(Call, on_delete=models.PROTECT, related_name="+")
    weighed = models.ForeignKey(Call, on_delete=models.PROTECT, null=True, related_name="+")

    def __str__(self) -> str:
        return f"{self.listed}: {self.worded}"


class EndpointLimits(models.Model):
    """Limits of an endpoint, where the environment does not set them. Empty is no limit."""

    address = models.CharField(
        max_length=500, unique=True, help_text="as calls have it, without a user or password"
    )
    requests_per_minute = models.PositiveIntegerField(null=True)
    tokens_per_minute = models.PositiveIntegerField(null=True)
    most_at_once = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(requests_per_minute=0) & ~Q(tokens_per_minute=0) & ~Q(most_at_once=0),
                name="endpoint_limits_above_0",
            ),
        ]

    def __str__(self) -> str:
        return self.address


class EndpointUse(models.Model):
    """Use of an endpoint's limits now, by all workers, where no Redis keeps that."""

    address = models.CharField(max_length=500, unique=True)
    state = models.JSONField(default=dict)

    def __str__(self) -> str:
        return self.address


LONGEST_CONNECTION = 30  # so that a job's price table has room for its version


class Connection(models.Model):
    """One version of a way to an LLM: an endpoint that the administrators list, a model, and its price.

    Only its last test changes: what is changed otherwise is the next version. A judge keeps address and model itself.
    """

    name = models.CharField(max_length=LONGEST_CONNECTION)
    version = models.PositiveIntegerField(default=1)
    endpoint = models.CharField(max_length=60, help_text="its name in LLM_ENDPOINTS, or default")
    base_url = models.CharField(max_length=200, blank=True, help_text="its address; empty: the default endpoint's")
    model = models.CharField(max_length=200)
    currency = models.CharField(max_length=3, blank=True)
    prompt_price = models.DecimalField(null=True, max_digits=12, decimal_places=6, help_text="per million tokens")
    completion_price = models.DecimalField(
        null=True, max_digits=12, decimal_places=6, help_text="per million tokens"
    )
    test = models.JSONField(null=True, help_text="findings of the last test; empty: not tested")
    tested_at = models.DateTimeField(null=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["name", "version"], name="connection_name_version"),
            models.CheckConstraint(
                condition=Q(currency="", prompt_price=None, completion_price=None)
                | ~Q(currency="") & Q(prompt_price__gte=0, completion_price__gte=0),
                name="connection_price_is_whole",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"
