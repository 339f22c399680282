"""Fields of campaigns, topics and segments."""

from typing import Any

from rest_framework import serializers


class TopicRow(serializers.Serializer[Any]):
    """A topic: one information need."""

    id = serializers.CharField(help_text="of this installation")
    campaign = serializers.CharField(help_text="the campaign's slug")
    topic_id = serializers.CharField(help_text="the track's")
    text = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField())
    position = serializers.IntegerField(help_text="the order in which topics were loaded")
    extra = serializers.DictField(help_text="keys of the file that Assay has no field for")
