from django.contrib.admin.apps import AdminConfig


class AssayAdminConfig(AdminConfig):
    """Django's admin with our own rule of who may open it."""

    default_site = "config.administration.AssayAdmin"
