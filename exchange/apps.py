from importlib import import_module

from django.apps import AppConfig
from django.db.models.signals import pre_migrate


class ExchangeConfig(AppConfig):
    name = "exchange"

    def ready(self) -> None:
        import_module("exchange.background").register()
        refuse = import_module("exchange.adoption").refuse_to_migrate
        pre_migrate.connect(refuse, sender=self, dispatch_uid="exchange.adoption")
