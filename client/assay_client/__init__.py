"""Runs into Assay and scores back, from Python."""

from assay_client.api import Assay
from assay_client.campaign import Campaign, Comparison
from assay_client.errors import (
    Ambiguous,
    AssayError,
    Busy,
    Conflict,
    GateBroken,
    GateFailed,
    GateUndecided,
    Incomplete,
    InputProblem,
    JobFailed,
    JobPaused,
    NotAllowed,
    NotFound,
    NotSignedIn,
    Refused,
    ServerError,
    Unreachable,
    WaitTimeout,
)
from assay_client.gates import Gate
from assay_client.imports import Imported
from assay_client.jobs import Job

__all__ = [
    "Ambiguous",
    "Assay",
    "AssayError",
    "Busy",
    "Campaign",
    "Comparison",
    "Conflict",
    "Gate",
    "GateBroken",
    "GateFailed",
    "GateUndecided",
    "Imported",
    "Incomplete",
    "InputProblem",
    "Job",
    "JobFailed",
    "JobPaused",
    "NotAllowed",
    "NotFound",
    "NotSignedIn",
    "Refused",
    "ServerError",
    "Unreachable",
    "WaitTimeout",
]
