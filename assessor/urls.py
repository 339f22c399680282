"""The desks' addresses."""

from django.urls import include, path

from assessor.views import desk, history, home, keys, practice, time

app_name = "assessor"

task_urls = [
    path("", desk.task, name="task"),
    path("start/", desk.start, name="start"),
    path("practice/", practice.practice, name="practice"),
    path("practice/ops/", practice.ops, name="practice_ops"),
    path("practice/state/", practice.state, name="practice_state"),
    path("practice/answers/<str:answer_id>/", practice.answer, name="practice_answer"),
    path("ops/", desk.ops, name="ops"),
    path("answers/<str:answer_id>/", desk.answer, name="answer"),
    path("beat/", time.beat, name="beat"),
    path("hold/", desk.hold, name="hold"),
    path("state/", desk.state, name="state"),
    path("gap/", time.gap_answered, name="gap"),
    path("review/", history.review, name="review"),
    path("submit/", desk.submit, name="submit"),
    path("history/", history.history, name="history"),
    path("history/restore/", history.restore, name="restore"),
    path("remarks/", desk.remark, name="remark"),
    path("guidelines/", home.guidelines, name="guidelines"),
]

urlpatterns = [
    path("desk/", home.home, name="home"),
    path("desk/find/", home.find, name="find"),
    path("desk/keys/", keys.keys, name="keys"),
    path("desk/session/", time.session, name="session"),
    path("desk/<str:public_id>/", include(task_urls)),
]
