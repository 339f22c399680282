"""What CI leaves out, which has a quarter of an hour: marked `thorough`. `make test` by hand leaves nothing out."""

BROWSER = (
    "browser/test_post_edit.py::test_a_whole_topic_by_keyboard_only",
    "browser/test_rules_agree.py",
    "browser/saving/test_network.py::test_ten_changes_without_network_arrive_in_order",
    "browser/saving/test_network.py::test_a_lost_answer_has_one_effect_and_shows_no_error",
    "browser/saving/test_session.py::test_an_ended_session_is_renewed_above_the_page",
    "browser/judge/test_assigning.py::test_a_whole_topic_by_keyboard_to_its_submission",
    "browser/judge/test_supporting.py::test_the_shown_label_is_never_chosen_and_each_answer_is_one_key",
)
"""Of the tests in a browser, which take most of the time, these stay: one or two of each thing that must not break."""

LEFT_OUT = (
    "soak/test_judging.py::test_no_label_is_lost",
    "soak/test_benchmarks.py",
    "exchange/test_upgrade.py",
    "api/test_permissions.py::test_everybody_may",
    "api/test_fuzzing.py",
    "security/test_hostile_content.py",
    "security/test_headers.py::test_check_deploy_is_clean",  # `make lint` does it too
    "security/test_headers.py::test_https_brings",
    "llmjobs/test_engine_killed_worker.py",
    "llmjobs/test_asking_again.py",
    "llmjobs/test_engine_poison.py",
    "llmjobs/test_limits_over_workers.py",
    "organizer/test_view_as_assessor.py",
    "organizer/test_audit_page.py",
    "crawl/test_crawl.py::test_the_api_tells_an_organizer_of_no_other_campaign",
    "crawl/test_judging_blindness.py::test_the_same_walk_hears_the_canaries_where_they_may_be_heard",
    "llmjobs/test_simulator_command.py",
    "reports/test_report_pages.py::test_the_picture_of_each_page_is_drawn_in_both_themes",
    "soak/test_desk_chaos.py::test_nothing_is_lost_while_everything_breaks",
    "crawl/test_judging_blindness.py::test_no_state_of_a_judging_task_tells_more",
    "crawl/test_second_language.py::test_a_page_says",  # test_translation reads the templates
    "crawl/test_blindness.py::test_the_walk_hears_a_blind_read_that_tells_too_much",
    "crawl/test_judging_blindness.py::test_nobody_who_judges_hears_what_they_may_not[ben]",
    "crawl/test_crawl.py::test_a_walk_breaks_nothing_and_shows_no_other_campaign[ann]",  # test_blindness walks further
)


def is_thorough(name: str) -> bool:
    """Say whether a test is left out in CI. `name`: its node id from the folder of the tests on."""
    if name.startswith("browser/"):
        return not name.startswith(BROWSER)
    return name.startswith(LEFT_OUT)
