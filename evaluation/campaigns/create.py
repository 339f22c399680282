"""Making a campaign and changing its protocol."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import transaction
from django.db.models import F
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr
from pydantic_core import PydanticCustomError

from accounts.models import User
from evaluation.errors import BadInput, InputProblem, Refused
from evaluation.formats.languages import Language
from evaluation.formats.lines import line_of, read_toml
from evaluation.formats.source import Readable, Source, read_source
from evaluation.models import Campaign, ConditionDefault, Event, Membership, Protocol
from evaluation.stages.grade import HIGHEST
from evaluation.terms import (
    BattleMarkdown,
    BattleRubric,
    BattleShow,
    BattleWalk,
    Condition,
    NuggetSearch,
    PassageOrder,
    Role,
    Scoring,
    SupportCondition,
    SupportMeasure,
)
from web.text import trimmed

# Strict, or `true` in a file would be read as the number 1.
Count = Annotated[int, Field(ge=1, le=10_000, strict=True)]
Limit = Annotated[int, Field(ge=0, le=30_000, strict=True)]  # what the smallest of the columns holds


class ProtocolSettings(BaseModel):
    """The `[protocol]` table: what is not said keeps its default. A limit of 0 means none."""

    model_config = ConfigDict(extra="forbid")

    window_size: Count | None = None
    batch_size: Count | None = None
    draft_cap: Count | None = None
    nugget_cap: Count | None = None
    manual_cap: Limit | None = None
    edited_cap: Limit | None = None
    grade_threshold: Annotated[int, Field(ge=0, le=10, strict=True)] | None = None
    relevance_max: Annotated[int, Field(ge=1, le=HIGHEST, strict=True)] | None = None
    first_citations: Limit | None = None
    scoring: Scoring | None = None
    support_measure: SupportMeasure | Literal[""] | None = None
    citation_limit: Limit | None = None
    answer_word_limit: Limit | None = None
    topic_limit: Annotated[bool, Field(strict=True)] | None = None
    reference_limit: Limit | None = None
    show_importance: Annotated[bool, Field(strict=True)] | None = None
    identical_once: Annotated[bool, Field(strict=True)] | None = None
    nugget_sweep: Annotated[bool, Field(strict=True)] | None = None
    overlap: Annotated[int, Field(ge=0, le=100, strict=True)] | None = None
    pool_depth: Limit | None = None
    passage_order: PassageOrder | None = None
    group_overlaps: Annotated[bool, Field(strict=True)] | None = None
    nugget_search: NuggetSearch | None = None
    copy_words: Annotated[bool, Field(strict=True)] | None = None
    place_help: Annotated[bool, Field(strict=True)] | None = None
    markdown: Annotated[bool, Field(strict=True)] | None = None
    practice: Annotated[bool, Field(strict=True)] | None = None
    guidelines: str | None = None


class BattleSettings(BaseModel):
    """The `[battles]` table: what is not said keeps its default."""

    model_config = ConfigDict(extra="forbid")

    show: BattleShow | None = None
    rubric: BattleRubric | None = None
    markdown: BattleMarkdown | None = None
    ties: Annotated[bool, Field(strict=True)] | None = None
    both_bad: Annotated[bool, Field(strict=True)] | None = None
    refuse: Annotated[bool, Field(strict=True)] | None = None
    reasons: Annotated[bool, Field(strict=True)] | None = None
    overlap: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    order: BattleWalk | None = None
    task: Annotated[int, Field(ge=1, le=1000, strict=True)] | None = None


class DefaultChoice(BaseModel):
    """One `[defaults."E/M"]` table."""

    model_config = ConfigDict(extra="forbid")

    judge: str = ""
    nuggets: str = ""


class Preset(BaseModel):
    """The protocol of a track, as a file of the package says it. `name`: the track's, on screens."""

    model_config = ConfigDict(extra="forbid")

    name: str
    protocol: ProtocolSettings

    @property
    def measure(self) -> SupportMeasure:
        citations = self.protocol.model_dump(include={"first_citations", "support_measure"}, exclude_none=True)
        return Protocol(**citations).measure


PresetName = Literal["trec-rag-2024", "trec-rag-2025", "trec-rag-2026", "ragtime-2026"]
PRESETS: tuple[PresetName, ...] = get_args(PresetName)


def preset_of(name: PresetName) -> Preset:
    return read_toml(read_source(Path(__file__).parent / "presets" / f"{name}.toml"), Preset)


def _from_0(grades: dict[int, str]) -> dict[int, str]:
    if missing := set(range(len(grades))) - grades.keys():
        raise PydanticCustomError(
            "grades", "give every grade a word, from 0; {first} has none", {"first": min(missing)}
        )
    return grades


class CampaignFile(BaseModel):
    """Settings of a campaign. `like`: the preset that says what `protocol` leaves open; `grades`: a word for each."""

    model_config = ConfigDict(extra="forbid")

    like: PresetName | None = None
    name: str = ""
    description: str = ""
    language: Language = ""
    protocol: ProtocolSettings = ProtocolSettings()
    battles: BattleSettings = BattleSettings()
    grades: Annotated[
        dict[Annotated[int, Field(ge=0, le=HIGHEST)], Annotated[str, Field(min_length=1)]], AfterValidator(_from_0)
    ] = {}
    defaults: dict[Condition | SupportCondition, DefaultChoice] = {}
    _source: Source | None = PrivateAttr(None)

    def path_of(self, row: Campaign | Protocol, field: str, message: str) -> list[str]:
        """Return the keys that say what is wrong with a row; none where the file does not say it."""
        if isinstance(row, Campaign):
            return [field] if trimmed(getattr(self, field, "")) == getattr(row, field, "") else []
        if field == "grade_words":
            return ["grades"]
        if field.startswith("battle_"):
            return ["battles", field.removeprefix("battle_")]
        # A rule over several settings names them.
        settings = [word for word in (field, *message.split()) if word in self.protocol.model_fields_set]
        return ["protocol", *settings[:1]]


LARGEST_FILE = 1_048_576
BY_FILE = "the campaign's file was loaded again"
# TOML has no null, so a limit of 0 means none for these.
UNLIMITED = (
    "manual_cap",
    "edited_cap",
    "first_citations",
    "citation_limit",
    "answer_word_limit",
    "reference_limit",
    "overlap",
    "pool_depth",
)


def read_campaign_file(path: str | Path | Readable, name: str = "") -> CampaignFile:
    """Read a campaign's settings. Raises `BadInput` naming the file, the line and the field."""
    source = read_source(path, name=name, max_bytes=LARGEST_FILE)
    file = read_toml(source, CampaignFile)
    file._source = source
    return file


def create_campaign(
    *, slug: str, name: str, file: CampaignFile | None = None, replace: bool = False, actor: User | None = None
) -> tuple[Campaign, str]:
    """Make a campaign with protocol version 1; return it and the outcome: `made`, `changed` or `unchanged`.

    Made again with the same settings it stays as it is; with others it is refused, and with `replace` gets a new
    protocol version.
    """
    content = file or CampaignFile()
    with transaction.atomic():
        # Two loads of the file at once would both make the next version.
        campaign = Campaign.objects.select_for_update().filter(slug=slug).first()
        if campaign is None:
            return _make(slug, name, content, actor), "made"
        return campaign, _change(campaign, name, content, replace, actor)


def start_campaign(
    *, slug: str, name: str, file: CampaignFile, actor: User, replace: bool = False
) -> tuple[Campaign, str]:
    """Make a campaign as `create_campaign` does, whose maker becomes its organizer."""
    with transaction.atomic():
        # In one transaction: a campaign without an organizer is out of everybody's reach.
        campaign, outcome = create_campaign(slug=slug, name=name, file=file, replace=replace, actor=actor)
        if outcome == "made":
            add_member(campaign=campaign, user=actor, role=Role.ORGANIZER, actor=actor)
    return campaign, outcome


def _make(slug: str, name: str, content: CampaignFile, actor: User | None) -> Campaign:
    campaign = Campaign(
        slug=slug, name=trimmed(name or content.name), description=content.description, language=content.language
    )
    _check(campaign, content)
    campaign.save()
    protocol = Protocol(campaign=campaign, **_settings(content))
    _check(protocol, content)
    protocol.save()
    _write_defaults(campaign, content)
    Event.objects.create(
        campaign=campaign, kind="campaign.made", actor=actor, payload=content.model_dump(mode="json")
    )
    return campaign


def _change(campaign: Campaign, name: str, content: CampaignFile, replace: bool, actor: User | None) -> str:
    # A description and a language that the file leaves out stay as they are.
    fields = {
        "name": trimmed(name or content.name),
        "description": content.description or campaign.description,
        "language": content.language or campaign.language,
    }
    settings, protocol = _settings(content), campaign.protocol
    there = {default.condition: (default.judge, default.nuggets) for default in campaign.defaults.all()}
    changes_protocol = any(getattr(protocol, key) != value for key, value in settings.items())
    changes_defaults = any(there.get(key) != value for key, value in _choices(content).items())
    changes_campaign = any(getattr(campaign, key) != value for key, value in fields.items())
    if not (changes_campaign or changes_protocol or changes_defaults):
        return "unchanged"
    if not replace:
        raise Refused(
            "campaign_differs", f"Campaign {campaign.slug} is there with other settings.", field="replace"
        )
    for key, value in fields.items():
        setattr(campaign, key, value)
    _check(campaign, content)
    campaign.save()
    if changes_protocol:
        version = protocol.version + 1
        protocol = Protocol(campaign=campaign, version=version, changed_by=actor, reason=BY_FILE, **settings)
        _check(protocol, content)
        protocol.save()
    _write_defaults(campaign, content)
    payload = content.model_dump(mode="json")
    Event.objects.create(campaign=campaign, kind="campaign.changed", actor=actor, payload=payload)
    return "changed"


def _settings(content: CampaignFile) -> dict[str, Any]:
    settings = preset_of(content.like).protocol.model_dump(exclude_none=True) if content.like else {}
    settings |= content.protocol.model_dump(exclude_none=True)
    battles = content.battles.model_dump(exclude_none=True)
    settings |= {f"battle_{name}": value for name, value in battles.items()}
    if content.grades:
        settings["grade_words"] = "\n".join(word for _, word in sorted(content.grades.items()))
    return {key: None if key in UNLIMITED and value == 0 else value for key, value in settings.items()}


def _choices(content: CampaignFile) -> dict[str, tuple[str, str]]:
    return {str(key): (default.judge, default.nuggets) for key, default in content.defaults.items()}


def _write_defaults(campaign: Campaign, content: CampaignFile) -> None:
    for condition, (judge, nuggets) in _choices(content).items():
        ConditionDefault.objects.update_or_create(
            campaign=campaign, condition=condition, defaults={"judge": judge, "nuggets": nuggets}
        )


NO_FILE = CampaignFile()


def _check(row: Campaign | Protocol, content: CampaignFile = NO_FILE) -> None:
    try:
        row.full_clean()
    except DjangoValidationError as error:
        texts = {key: " ".join(messages) for key, messages in error.message_dict.items()}
        paths = {key: content.path_of(row, key, text) for key, text in texts.items()}
        source = content._source
        if source and all(paths.values()):
            problems = [
                InputProblem(source.name, line_of(source, path), ".".join(path), texts[key])
                for key, path in paths.items()
            ]
            raise BadInput(problems) from error
        raise Refused("invalid", " ".join(f"{key}: {text}" for key, text in texts.items())) from error


def set_hourly_rate(*, campaign: Campaign, rate: Decimal | None, actor: User) -> bool:
    """Set the cost of an assessor's hour, None for not known; return whether it is another. Raises `Refused`."""
    with transaction.atomic():
        locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
        if locked.hourly_rate == rate:
            return False
        before, locked.hourly_rate = locked.hourly_rate, rate
        _check(locked)
        # The cost report is kept by revision.
        Campaign.objects.filter(pk=locked.pk).update(hourly_rate=rate, revision=F("revision") + 1)
        payload = {"before": str(before or ""), "rate": str(rate or "")}
        Event.objects.create(campaign=locked, kind="campaign.rate", actor=actor, payload=payload)
    return True


def add_member(*, campaign: Campaign, user: User, role: Role, actor: User | None = None) -> None:
    """Give someone a role in a campaign; the same role again changes nothing."""
    with transaction.atomic():
        _, is_new = Membership.objects.get_or_create(campaign=campaign, user=user, role=role)
        if is_new:
            payload = {"user": user.pk, "role": role}
            Event.objects.create(campaign=campaign, kind="member.added", actor=actor, payload=payload)
