"""The OpenAPI description of the collections, from what each declares."""

from drf_spectacular.openapi import AutoSchema


class CollectionSchema(AutoSchema):
    """What drf-spectacular cannot see by itself: a collection's fields, filters and forms."""
