from importlib import import_module

from django.apps import AppConfig


class ExchangeConfig(AppConfig):
    name = "exchange"

    def ready(self) -> None:
        import_module("exchange.background").register()
        import_module("exchange.fetching").register()
