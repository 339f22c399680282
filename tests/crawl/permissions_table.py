"""Who gets what at which address: the table that test_permissions.py tries, a line per kind of address and method.

Outcomes: `ok` got through (whatever the rules then said of what was sent), `in` asked to sign in, `no` told that it may
not, `--` as if it did not exist, `by` the method is not for this address.
"""

ROLES = ("nobody", "stranger", "assessor", "organizer", "researcher", "auditor", "administrator", "both")
"""`both` is an assessor who was made an organizer too: blind, whatever else they are."""

KINDS = """
                        nobody stranger assessor organizer researcher auditor administrator both
unblinded page     GET    in     --       --       ok         ok        ok        ok        --
unblinded page     POST   in     by       by       by         by        by        by        by
organizer's form   GET    in     --       --       ok         no        no        ok        --
organizer's form   POST   in     --       --       ok         no        no        ok        --
organizer's act    GET    in     by       by       by         by        by        by        by
organizer's act    POST   in     --       --       ok         no        no        ok        --
own page           GET    in     ok       ok       ok         ok        ok        ok        ok
own page           POST   in     by       by       by         by        by        by        by
own form           GET    in     ok       ok       ok         ok        ok        ok        ok
own form           POST   in     ok       ok       ok         ok        ok        ok        ok
desk page          GET    in     --       ok       --         --        --        --        --
desk page          POST   in     by       by       by         by        by        by        by
desk form          GET    in     --       ok       --         --        --        --        --
desk form          POST   in     --       ok       --         --        --        --        --
desk button        GET    in     by       by       by         by        by        by        by
desk button        POST   in     --       ok       --         --        --        --        --
desk state         GET    in     --       ok       --         --        --        --        --
desk state         POST   by     by       by       by         by        by        by        by
desk act           GET    by     by       by       by         by        by        by        by
desk act           POST   in     --       ok       --         --        --        --        --
anybody's form     GET    ok     ok       ok       ok         ok        ok        ok        ok
anybody's form     POST   ok     ok       ok       ok         ok        ok        ok        ok
anybody's page     GET    ok     ok       ok       ok         ok        ok        ok        ok
anybody's page     POST   by     by       by       by         by        by        by        by
by a mailed link   GET    ok     ok       ok       ok         ok        ok        ok        ok
by a mailed link   POST   --     --       --       --         --        --        --        --
behind a password  GET    in     in       in       in         in        in        in        in
behind a password  POST   in     in       in       in         in        in        in        in
"""

ROUTES = {
    "unblinded page": """
        organizer:campaign organizer:topics organizer:topic organizer:runs organizer:run organizer:segment
        organizer:findings organizer:work organizer:task organizer:practice organizer:studies organizer:study
        organizer:inbox organizer:jobs organizer:job organizer:assignment_label organizer:support_label
        organizer:answer_labels organizer:list_origin organizer:nugget_origin organizer:grade_origin organizer:call
        reports:agreement reports:scatter
    """,
    "organizer's form": "organizer:hand_out organizer:change_work organizer:new_study organizer:new_job",
    "organizer's act": """
        organizer:reassign_task organizer:reopen_task organizer:block_task organizer:unblock_task
        organizer:withdraw_task organizer:reschedule_task organizer:switch_practice organizer:hand_out_study
        organizer:judge_study organizer:answer organizer:cancel_job organizer:retry_job
    """,
    "own page": "organizer:campaigns assessor:home",
    "own form": "assessor:keys",
    "desk page": """
        assessor:task assessor:practised assessor:review assessor:history assessor:guidelines
    """,
    "desk form": "assessor:practice",
    "desk button": "assessor:start assessor:restore",
    "desk state": "assessor:state assessor:answer",
    "desk act": "assessor:ops assessor:beat assessor:hold assessor:said assessor:submit assessor:remark",
    "anybody's form": """
        account_login account_logout account_signup account_reset_password account_reset_password_from_key healthz
    """,
    "anybody's page": """
        account_inactive account_email_verification_sent account_reset_password_from_key_done
        account_reset_password_done assessor:session
    """,
    "by a mailed link": "account_confirm_email",
    "behind a password": """
        account_reauthenticate account_email account_change_password account_set_password account_confirm_login_code
    """,
}

OUTCOMES = ("ok", "in", "no", "--", "by")
