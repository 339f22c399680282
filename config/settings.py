"""All settings in one file. Everything that differs between installations comes from the environment."""

import logging
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from whitenoise.compress import Compressor

from assay import own_version
from web.environment import (
    Environment,
    check_place,
    check_secrets,
    local_secret,
    own_folder,
    secret,
)
from web.logs import logging_settings
from web.outbound import listed_endpoints, text_sources

BASE_DIR = Path(__file__).resolve().parent.parent
VERSION = own_version()
COLLECTED = (BASE_DIR / "static" / "staticfiles.json").exists()  # in a wheel, to which nothing is written

env = ENVIRONMENT = Environment()
SHELL_NAMES = frozenset(os.environ)  # what `.env` adds is not among them
VAR_DIR = own_folder(Path(env.path("ASSAY_HOME", str(BASE_DIR / "var"))))
OWN_DATABASE = VAR_DIR / "assay.sqlite3"
ENV_FILE = (VAR_DIR if COLLECTED else BASE_DIR) / ".env"
if ENV_FILE.exists():
    env.read_env(ENV_FILE)
check_secrets()
check_place()

DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = secret("SECRET_KEY") or local_secret(VAR_DIR / "secret-key")
HOST_NAME = r"([A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\])"
ALLOWED_HOSTS = env.text(
    "ALLOWED_HOSTS",
    ["127.0.0.1", "localhost", "[::1]"],
    rf"\*|\.?{HOST_NAME}",
    "the name of a host without scheme and port, such as assay.example.org",
)
ORIGIN, AS_ORIGIN = r"https?://[^/?#@\s]+", "a scheme and a host without a path, such as https://assay.example.org"
CSRF_TRUSTED_ORIGINS: list[str] = env.text("CSRF_TRUSTED_ORIGINS", [], ORIGIN, AS_ORIGIN)
CSRF_FAILURE_VIEW = "web.typed.csrf_failure"

INSTALLED_APPS = [
    "web",
    "accounts",
    "jobs",
    "evaluation",
    "reports",
    "llmjobs",
    "assessor",
    "exchange",
    "organizer",
    "api",
    "template_partials",
    "django_htmx",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "rest_framework",
    "drf_spectacular",
    "csp",
    "config.apps.AssayAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
]

MIDDLEWARE = [
    "web.middleware.HeadersMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "web.logs.RequestLogMiddleware",
    "config.monitoring.MetricsMiddleware",
    "csp.middleware.CSPMiddleware",
    "web.middleware.NulMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    # Every page needs a signed-in user unless it says otherwise: forgetting a decorator fails closed.
    "web.typed.SignInMiddleware",
    "accounts.browsers.SessionAgeMiddleware",
    "accounts.browsers.RetryAfterMiddleware",
    "accounts.browsers.KnownBrowserMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "web.audit_log.AuditMiddleware",
    "organizer.access.SecondFactorMiddleware",
    "web.middleware.RefusalMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            # Tags of desks are loaded by desks alone.
            "builtins": [
                "django.contrib.humanize.templatetags.humanize",
                "django.templatetags.static",
                "evaluation.templatetags.answers",
                "evaluation.templatetags.labels",
                "organizer.templatetags.navigation",
                "organizer.templatetags.work",
                "reports.templatetags.reports",
                "web.templatetags.assay",
            ],
        },
    }
]

# SQLite: IMMEDIATE, because a deferred transaction that has read cannot wait for the write lock and fails
# at once; WAL, so that readers never wait; synchronous stays FULL, because a judgment is an hour of a
# person. ATOMIC_REQUESTS stays off: under IMMEDIATE every read would queue for the write lock.
SQLITE_OPTIONS = {"transaction_mode": "IMMEDIATE", "timeout": 20, "init_command": "PRAGMA journal_mode=WAL;"}


# PostgreSQL: a pool tries a lost server again after 1, 2, 4 .. s, so that one that was away for a minute was found half
# a minute later. It gives up soon instead, and the next request begins anew. Whoever waits for a connection while it
# gives up waits in vain, so not for long: there are more connections than threads, and nobody waits but then.
POOL = {"min_size": 1, "max_size": 8, "timeout": 3, "reconnect_timeout": 2}


def databases() -> dict[str, Any]:
    # SQLite gets a second, deferred connection for reports that need one state.
    default: dict[str, Any] = env.database(secret("DATABASE_URL") or f"sqlite:///{OWN_DATABASE}")
    default["ATOMIC_REQUESTS"] = False
    if default["ENGINE"] != "django.db.backends.sqlite3":
        default["OPTIONS"] = {**default.get("OPTIONS", {}), "pool": POOL}
        default["CONN_HEALTH_CHECKS"] = True  # a server that was restarted costs nobody an error
        return {"default": default}
    # Tests use a file as well, so that threads and live servers meet the same journal as in production; one per
    # process, so that two test runs beside each other do not share it.
    default |= {"OPTIONS": SQLITE_OPTIONS, "TEST": {"NAME": str(VAR_DIR / f"test-{os.getpid()}.sqlite3")}}
    snapshot = default | {
        "OPTIONS": SQLITE_OPTIONS | {"transaction_mode": "DEFERRED"},
        "TEST": {"MIRROR": "default"},
    }
    return {"default": default, "snapshot": snapshot}


DATABASES = databases()
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
PASSWORD_LENGTH = 12
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {"NAME": f"django.contrib.auth.password_validation.{name}", "OPTIONS": options}
    for name, options in (
        ("UserAttributeSimilarityValidator", {}),
        ("MinimumLengthValidator", {"min_length": PASSWORD_LENGTH}),
        ("CommonPasswordValidator", {}),
        ("NumericPasswordValidator", {}),
    )
]
AUTH_PASSWORD_VALIDATORS.append(
    {"NAME": "accounts.passwords.RepetitionValidator", "OPTIONS": {"min_length": PASSWORD_LENGTH}}
)
ACCOUNT_ADAPTER = "accounts.sign_in.InvitationOnlyAdapter"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_REAUTHENTICATION_REQUIRED = True  # a session alone changes no address and no provider
ACCOUNT_FORMS = {"reset_password": "accounts.password_reset.ResetForm"}
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False  # strangers get no mail
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Assay] "
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "organizer:landing"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"

# A second factor. Passkeys need HTTPS, but for a browser on the same machine.
MFA_ADAPTER = "accounts.sign_in.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Assay"
MFA_TOTP_TOLERANCE = 1  # a clock that is 30 s off
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_ALLOW_UNVERIFIED_EMAIL = True  # nobody signs up under another's address, and who was handed a link has none
REQUIRE_MFA = env.bool("REQUIRE_MFA", default=False)


def oidc_provider(env: Any) -> dict[str, Any] | None:
    """OpenID Connect provider that the environment names, as allauth wants it; None without one."""
    server = env.str("OIDC_SERVER_URL", default="")
    if not server:
        return None
    parts = urlsplit(server)
    if not parts.hostname or (parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "localhost", "::1")):
        # The provider's answer is believed because it came over TLS.
        raise ImproperlyConfigured("OIDC_SERVER_URL: https://, but for a provider on this machine.")
    client = env.str("OIDC_CLIENT_ID", default="")
    if not client:
        raise ImproperlyConfigured("OIDC_SERVER_URL is set, and OIDC_CLIENT_ID is missing.")
    return {
        "provider_id": env.str("OIDC_PROVIDER_ID", default="oidc"),
        "name": env.str("OIDC_NAME", default="single sign-on"),
        "client_id": client,
        "secret": secret("OIDC_CLIENT_SECRET", env.ENVIRON),
        "settings": {"server_url": server, "origin": f"{parts.scheme}://{parts.netloc}"},
    }


# Sign-in by an OpenID Connect provider, which is named here and nowhere else.
OIDC = oidc_provider(env)
SOCIALACCOUNT_ADAPTER = "config.adapters.KnownPeopleAdapter"
SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [OIDC] if OIDC else [], "OAUTH_PKCE_ENABLED": True}}
SOCIALACCOUNT_EMAIL_AUTHENTICATION = True
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_AUTO_SIGNUP = False

# Mails are printed on the console, unless a server is named.
vars().update(env.mail_server("EMAIL_URL"))
ACCOUNT_EMAIL_NOTIFICATIONS = "EMAIL_URL" in env  # of a new password, factor or address
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="assay@localhost")
MAIL_ABOUT_JOBS = "EMAIL_URL" in env  # to who started one, when it is done, paused for its budget, or stuck
# Contact for reports of weaknesses of this installation: mailto: or https:, shown at /.well-known/security.txt.
SECURITY_CONTACT = env.text(
    "SECURITY_CONTACT", "", "((mailto|https):.+)?", "an address that begins with mailto: or https:"
)
# Address of the application, for links in mails that no request leads to.
PUBLIC_URL = env.text(
    "PUBLIC_URL",
    next((origin for origin in CSRF_TRUSTED_ORIGINS if "*" not in origin), ""),
    f"({ORIGIN})?",
    AS_ORIGIN,
)
INVITATION_DAYS = env.days("INVITATION_DAYS", 14)

# Days after which `apply_retention` takes away what serves no more: ended invitations and tokens.
RETENTION_DAYS = env.days("RETENTION_DAYS", 180)

# Longest life of a token for the API.
API_TOKEN_MAX_DAYS = env.days("API_TOKEN_MAX_DAYS", 365)

LANGUAGE_CODE = "en"
# No translation: locale/en rewords the sign-in library, and only for it `USE_I18N` is on.
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
TIME_ZONE = env.time_zone("TIME_ZONE", "UTC")
USE_TZ = True

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "static" if COLLECTED else VAR_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)
STATICFILES_DIRS = [] if COLLECTED else [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.apps.HashedModulesStorage"},
}

# Source maps are for whoever debugs a script, and large: they are served as they are.
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = (*Compressor.SKIP_COMPRESS_EXTENSIONS, "map")

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
if OIDC:
    # The form that begins the sign-in is led on to the provider, which a browser takes for sending the form there.
    CONTENT_SECURITY_POLICY["DIRECTIVES"]["form-action"].append(OIDC["settings"]["origin"])
X_FRAME_OPTIONS = "DENY"
# Largest request: a desk's batch is far smaller, and the files of the import wizard are counted apart.
DATA_UPLOAD_MAX_MEMORY_SIZE = FILE_UPLOAD_MAX_MEMORY_SIZE = 2_621_440
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000  # a form names each topic and run that was ticked
DATA_UPLOAD_MAX_NUMBER_FILES = 200  # a track's runs are loaded at once
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_ENGINE = "accounts.session_store"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
# Without a request for so long, or so long after the sign-in, one signs in again: at a desk above the page.
SESSION_COOKIE_AGE = env.number("SESSION_IDLE_HOURS", 12) * 3600
SESSION_LONGEST = env.days("SESSION_MAX_DAYS", 14) * 86_400

# Where the server listens, and its processes (gunicorn.conf.py).
HOST = env.str("HOST", default="127.0.0.1")
PORT = env.port("PORT", 8000)
WEB_WORKERS = env.number("WEB_WORKERS", 2)

# HTTPS=1 behind a TLS proxy. Off, the application serves plain HTTP, which `make run` binds to 127.0.0.1.
HTTPS = env.bool("HTTPS", default=False)
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]  # asked from beside, not through the proxy
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    # A browser takes a cookie of such a name only from this very host, over HTTPS: no sibling host can plant one.
    SESSION_COOKIE_NAME, SESSION_COOKIE_SECURE = "__Host-sessionid", True
    CSRF_COOKIE_NAME, CSRF_COOKIE_SECURE = "__Host-csrftoken", True

# The proxies in front, whose word about a client's address is taken: attempts to sign in are counted by address.
ALLAUTH_TRUSTED_PROXY_COUNT = env.number("TRUSTED_PROXIES", 1 if HTTPS else 0, least=0)


def shared_cache(redis: str, broker: str) -> dict[str, Any]:
    schemes = ("redis://", "rediss://")
    if redis and not redis.startswith(schemes):
        raise ImproperlyConfigured("REDIS_URL is not such as redis://127.0.0.1:6379/1.")
    url = redis or (broker if broker.startswith(schemes) else "")
    if url:
        # JSON, so that whoever can write the values runs no code here.
        options = {
            "serializer": "accounts.caching.JsonSerializer",
            "socket_connect_timeout": 1,
            "socket_timeout": 1,
        }
        backend = "accounts.caching.RedisOrTableCache"
        return {"default": {"BACKEND": backend, "LOCATION": url, "KEY_PREFIX": "assay", "OPTIONS": options}}
    return {"default": {"BACKEND": "accounts.caching.TableCache"}}


FAILED_AN_HOUR = 100
"""Wrong passwords for one account, whatever `LOGIN_FAILURES` and `LOGIN_LOCK_MINUTES` allow (OWASP ASVS 2.2.1)."""


def login_limits(*, failed: int, seconds: int) -> dict[str, str]:
    """Limits of allauth: `failed` attempts an account within so many seconds, from anywhere."""
    return {
        # By address there is room for a lab behind one router.
        "login": "60/m/ip",
        "login_failed": f"{10 * failed}/{seconds}s/ip,{failed}/{seconds}s/key,{FAILED_AN_HOUR}/h/key",
        "invitation": "30/m/ip",  # links that are not good
        "reset_password": "20/m/ip,5/m/key",
        "reauthenticate": "10/m/user",
        "change_password": "5/m/user",
    }


# Unset, there is no broker: rows are the queue, and a broker only wakes workers up.
CELERY_BROKER_URL = secret("CELERY_BROKER_URL") or "memory://"
CACHES = shared_cache(env.str("REDIS_URL", default=""), CELERY_BROKER_URL)
LOGIN_LOCK_SECONDS = env.number("LOGIN_LOCK_MINUTES", 5) * 60
ACCOUNT_RATE_LIMITS = login_limits(failed=env.number("LOGIN_FAILURES", 5), seconds=LOGIN_LOCK_SECONDS)
CELERY_TASK_SERIALIZER = "json"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "work"
# Every message is a wake-up for all: one that waits behind a running lane helps nobody.
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True

# LLM judges call the endpoint that OPENAI_* or AZURE_OPENAI_* name (llmjobs/client.py); without any, the simulated LLM.
# A judge may have another address only where it or its host is listed here (web/outbound.py).
LLM_ENDPOINTS = listed_endpoints(env.ENVIRON)
LLM_ALLOWED_HOSTS: list[str] = env.text(
    "LLM_ALLOWED_HOSTS", [], rf"{HOST_NAME}\.?(:[1-9][0-9]{{,4}})?", "host or host:port, without scheme and path"
)
# Organizers choose among the endpoints above; otherwise only administrators make connections.
ORGANIZERS_MAKE_CONNECTIONS = env.bool("ORGANIZERS_MAKE_CONNECTIONS", default=True)
# Texts of passages are fetched from these addresses and from no other (exchange/fetching.py).
TEXT_SOURCES = text_sources(env.ENVIRON)
SIMULATOR_PORT = env.port("SIMULATOR_PORT", 8001)
LLM_CONCURRENCY = env.number("LLM_CONCURRENCY", 16)
# The most that the default endpoint takes, shared by all workers; 0 is no limit. For others: `limit_endpoint`.
LLM_REQUESTS_PER_MINUTE = env.number("LLM_REQUESTS_PER_MINUTE", 0, least=0) or None
LLM_TOKENS_PER_MINUTE = env.number("LLM_TOKENS_PER_MINUTE", 0, least=0, most=10**9) or None
LLM_MOST_AT_ONCE = env.number("LLM_MOST_AT_ONCE", 0, least=0) or None
LLM_PRICES = env.path("LLM_PRICES", "")
LLM_TIMEOUT_SECONDS = env.number("LLM_TIMEOUT_SECONDS", 120.0, most=86_400)
JOB_LEASE_SECONDS = env.number("JOB_LEASE_SECONDS", 30.0)
# A job that has waited for so long, while none of its items ended, is reported as stuck.
JOB_STUCK_MINUTES = env.number("JOB_STUCK_MINUTES", 15.0)

RATE = "[1-9][0-9]{,8}/(second|minute|hour|day)"
AS_RATE = "a number of requests a second, minute, hour or day, such as 600/minute"

# The API: JSON only, every error a problem document, and nothing without a token or a session.
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "api.access.BearerAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "api.access.HasSecondFactor",
        "api.access.TokenHasScope",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["api.access.TokenThrottle", "api.access.PersonThrottle"],
    "DEFAULT_THROTTLE_RATES": {
        "token": env.text("API_TOKEN_RATE", "600/minute", RATE, AS_RATE),
        "user": env.text("API_USER_RATE", "1200/minute", RATE, AS_RATE),
    },
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "api.streams.LenientNegotiation",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "api.schema.ListSchema",
    "EXCEPTION_HANDLER": "api.problems.handler",
}

# Largest upload to an import of the API or of the wizard, packed and unpacked. A larger file is for the command.
API_UPLOAD_MAX_BYTES = env.number("API_UPLOAD_MAX_MB", 256) * 1024**2
FILE_UPLOAD_HANDLERS = [
    "organizer.data.forms.BoundedUploadHandler",
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]

# Files that wait to be loaded, and exports: for the web and worker processes only. With several machines, one that all
# of them see. Imports up to so many bytes are tried out and loaded while the page waits, larger ones by a worker.
FILES_DIR = Path(env.path("FILES_DIR", str(VAR_DIR / "files")))
IMPORT_AT_ONCE_BYTES = 4 * 1024**2

SPECTACULAR_SETTINGS = {
    "TITLE": "Assay",
    "DESCRIPTION": "Topics, runs, nuggets, labels and scores of campaigns, for programs. See docs/api.md.",
    "VERSION": "1",
    "CONTACT": {"name": "The organizers of this installation"},
    "SERVERS": [{"url": "/"}],  # the API is where its schema is read
    "OAS_VERSION": "3.1.0",  # bodies are pydantic's, whose null is a type
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": ["api.schema.with_tags"],
}

# Demo data and demo accounts go only into the project's own SQLite file, or anywhere with DEMO=1.
DEMO = env.bool("DEMO", default=False)

# Unblinded views and administrative acts, one line of JSON each, outside the database. Where it cannot be written, what
# is unblinded is closed. Desks and the pages about one's own account show nothing unblinded: names of views begin so.
AUDIT_LOG = env.path("AUDIT_LOG", str(VAR_DIR / "audit.jsonl"))
AUDIT_EXEMPT = (
    "assessor:",
    "account",
    "mfa_",
    "socialaccount_",
    "openid_connect_",
    "healthz",
    "readyz",
    "metrics",
    "security_txt",
)

# Logs tell what happened and never what anybody wrote (web/logs.py); only DEBUG=1 shows exceptions in full.
LOG_FORMAT = env.text("LOG_FORMAT", "text", "text|json", "text or json")
LEVEL, AS_LEVEL = "DEBUG|INFO|WARNING|ERROR|CRITICAL", "DEBUG, INFO, WARNING, ERROR or CRITICAL"
LOGGING = logging_settings(
    form=LOG_FORMAT, level=env.text("LOG_LEVEL", "WARNING", LEVEL, AS_LEVEL), everything=DEBUG
)
DJANGO_STRUCTLOG_IP_LOGGING_ENABLED = False
DJANGO_STRUCTLOG_USER_ID_FIELD = None
DJANGO_STRUCTLOG_STATUS_START_LOG_LEVEL = logging.DEBUG
DJANGO_STRUCTLOG_STATUS_4XX_LOG_LEVEL = logging.INFO

# Figures for a monitoring system, for whoever has this token; without one there are none.
METRICS_TOKEN = secret("METRICS_TOKEN")
