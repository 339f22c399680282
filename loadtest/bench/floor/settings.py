"""Our settings with nothing but what `startproject` gives and a bare save needs."""

from config.settings import *  # noqa: F403

INSTALLED_APPS = [app for app in INSTALLED_APPS if not app.startswith("config.")]  # noqa: F405  # the admin
INSTALLED_APPS[INSTALLED_APPS.index("accounts")] = "loadtest.bench.floor.apps.AccountsConfig"
INSTALLED_APPS[INSTALLED_APPS.index("allauth.account")] = "loadtest.bench.floor.apps.SignInConfig"
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
ROOT_URLCONF = "loadtest.bench.floor.urls"
WSGI_APPLICATION = "loadtest.bench.floor.wsgi.application"
