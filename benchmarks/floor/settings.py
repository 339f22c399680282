"""Our settings with nothing but what `startproject` gives and a bare save needs."""

from config.settings import *  # noqa: F403

# The sign-in, and the admin behind it. The second factors stay: our code asks for their table.
OURS_ALONE = ("allauth.account", "allauth.socialaccount", "config.")
INSTALLED_APPS = [app for app in INSTALLED_APPS if not app.startswith(OURS_ALONE)]  # noqa: F405
INSTALLED_APPS[INSTALLED_APPS.index("accounts")] = "benchmarks.floor.apps.AccountsConfig"
INSTALLED_APPS.append(
    "django.contrib.admin.apps.SimpleAdminConfig"
)  # ours would be looked for, which need the sign-in
# What `startproject` gives.
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
ROOT_URLCONF = "benchmarks.floor.urls"
WSGI_APPLICATION = "benchmarks.floor.wsgi.application"
