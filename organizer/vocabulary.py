"""Words of the rooms below that pages show by `in_words`, where `makemessages` finds them. A test compares them."""

from web.phrases import noted

ROLES = (noted("assessor"), noted("organizer"), noted("researcher"), noted("auditor"))
TASK_STATES = (
    noted("not started"),
    noted("in progress"),
    noted("submitted"),
    noted("reopened"),
    noted("blocked"),
    noted("withdrawn"),
)
DECISIONS = (noted("undecided"), noted("kept"), noted("rejected"), noted("replaced"))
REMARKS = (noted("comment"), noted("flag"), noted("reopen request"), noted("interruption"))
STUDIES = (noted("assignment"), noted("support"))
FINDINGS = (
    noted("response length"),
    noted("answer too long"),
    noted("too many references"),
    noted("duplicate citation"),
    noted("citation out of range"),
    noted("duplicate reference"),
    noted("docid form"),
    noted("topic text differs"),
    noted("missing topics"),
    noted("empty answer"),
    noted("segment without text"),
    noted("unknown importance"),
    noted("avoid nugget"),
    noted("unknown label"),
    noted("repeated nugget"),
    noted("unjudged nuggets"),
    noted("grade off scale"),
    noted("answer text differs"),
    noted("addresses judge"),
)
JOB_STATES = (noted("running"), noted("paused"), noted("cancelled"), noted("done"))
NOTICES = (noted("done"), noted("paused"), noted("stuck"))
CALL_STATES = (noted("sent"), noted("answered"), noted("failed"))
CALL_ERRORS = (
    noted("auth"),
    noted("bad request"),
    noted("rate limited"),
    noted("server error"),
    noted("timeout"),
    noted("unreachable"),
)
IMPORT_STATES = (
    noted("checking"),
    noted("checked"),
    noted("refused"),
    noted("loading"),
    noted("loaded"),
    noted("discarded"),
    noted("expired"),
)
IMPORTED = (
    noted("labels"),
    noted("nugget lists"),
    noted("practice items"),
    noted("qrels"),
    noted("runs"),
    noted("runs' scores"),
    noted("segments"),
    noted("topics"),
)
TASK_ACTS = (
    noted("handed out"),
    noted("opened"),
    noted("submitted"),
    noted("reassigned"),
    noted("reopened"),
    noted("blocked"),
    noted("unblocked"),
    noted("withdrawn"),
    noted("rescheduled"),
)
REPLIES = (noted("asked again"), noted("split in two"), noted("refused"), noted("failed"))
IMPORTS = (
    noted("topics"),
    noted("segments"),
    noted("qrels"),
    noted("runs"),
    noted("nuggets"),
    noted("assignments"),
    noted("support"),
    noted("scores"),
    noted("practice"),
)
MESSAGES = (noted("system"), noted("user"), noted("assistant"))
SPREAD = (noted("min"), noted("median"), noted("max"))
RELATIONS = (noted("kept"), noted("edited"), noted("merged"), noted("split"))
MAKINGS = (noted("proposed"), noted("added"), noted("merged"), noted("split"))
NONE = noted("none")
NAMED = (
    noted("group"),
    noted("judge"),
    noted("model"),
    noted("name"),
    noted("set"),
    noted("slug"),
    noted("source"),
)
"""What a name is of, where a name is refused."""
