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
organizer's page   GET    in     --       --       ok         no        no        ok        --
organizer's page   POST   in     by       by       by         by        by        by        by
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
own act            GET    in     by       by       by         by        by        by        by
own act            POST   in     ok       ok       ok         ok        ok        ok        ok
audit page         GET    in     --       --       ok         no        ok        ok        --
audit page         POST   in     by       by       by         by        by        by        by
administrator's page GET  in     no       no       no         no        no        ok        no
administrator's page POST in     by       by       by         by        by        by        by
administrator's form GET  in     no       no       no         no        no        ok        no
administrator's form POST in     no       no       no         no        no        ok        no
administrator's act GET   in     by       by       by         by        by        by        by
administrator's act POST  in     no       no       no         no        no        ok        no
within a sign-in   GET    in     in       in       in         in        in        in        in
within a sign-in   POST   in     in       in       in         in        in        in        in
with a passkey     GET    ok     ok       ok       ok         ok        ok        ok        ok
with a passkey     POST   in     in       in       in         in        in        in        in
olga's own row     GET    in     by       by       by         by        by        by        by
olga's own row     POST   in     --       --       ok         --        --        --        --
where it is set    GET    --     --       --       --         --        --        --        --
where it is set    POST   by     by       by       by         by        by        by        by
with its own token GET    --     --       --       --         --        --        --        --
with its own token POST   --     --       --       --         --        --        --        --
of a provider      GET    --     --       --       --         --        --        --        --
of a provider      POST   --     --       --       --         --        --        --        --
behind a password  GET    in     in       in       in         in        in        in        in
behind a password  POST   in     in       in       in         in        in        in        in
"""

ROUTES = {
    "unblinded page": """
        organizer:campaign organizer:topics organizer:topic organizer:runs organizer:run organizer:segment
        organizer:findings organizer:find organizer:today organizer:people_work_file
        organizer:work organizer:task organizer:practice organizer:studies organizer:study
        organizer:random_checks organizer:random_check
        organizer:quality organizer:inbox organizer:jobs organizer:job organizer:assignment_label
        organizer:support_label organizer:answer_labels organizer:list_origin organizer:nugget_origin
        organizer:grade_origin organizer:verdict_origin organizer:call
        organizer:people reports:doubts reports:pairs reports:next_pair
        reports:nuggets_pair reports:citations_pair reports:study_table reports:battle
        organizer:judges organizer:prompts organizer:prompt organizer:trial
        organizer:cost organizer:cost_table organizer:cost_picture
        organizer:protocol organizer:exports organizer:data
        organizer:snapshots organizer:snapshot_methods reports:methods reports:methods_file
    """,
    "organizer's page": """
        organizer:snapshot_file organizer:view_as organizer:import_attempt organizer:import_problems
        organizer:export_file organizer:ask_to_take_role
    """,
    "audit page": "organizer:audit organizer:audit_file",
    "organizer's form": """
        organizer:hand_out organizer:change_work organizer:remind organizer:new_study organizer:new_job
        organizer:new_prompt organizer:new_check organizer:battles
        organizer:change_protocol organizer:change_defaults organizer:import_prompt
        organizer:new_judge organizer:new_connection
        organizer:try_prompts organizer:new_import organizer:new_export organizer:delete_campaign
    """,
    "organizer's act": """
        organizer:reassign_task organizer:reopen_task organizer:block_task organizer:unblock_task
        organizer:withdraw_task organizer:reschedule_task organizer:switch_practice organizer:hand_out_study
        organizer:grow_check organizer:extend_check
        organizer:judge_study organizer:answer organizer:cancel_job organizer:retry_job organizer:pause_job
        organizer:test_connection organizer:take_snapshot organizer:open_snapshot organizer:keep_rate
        organizer:commit_import organizer:discard_import organizer:take_up_import organizer:change_import
        organizer:resume_job organizer:read_notice organizer:read_notices organizer:give_role organizer:take_role
        organizer:set_languages organizer:set_campaign_language organizer:undo_import
        organizer:fetch_texts organizer:pause_fetch organizer:resume_fetch organizer:cancel_fetch organizer:retry_fetch
        organizer:hand_out_proposed organizer:undo_hand_out
        organizer:invite organizer:revoke_invitation organizer:pause_assessor
        reports:nuggets_verdict reports:citations_verdict reports:nuggets_take_back reports:citations_take_back
        reports:judge_more
    """,
    "own page": "organizer:campaigns organizer:landing assessor:home assessor:find glossary accounts:browsers",
    "own form": "assessor:keys accounts:notice accounts:tokens organizer:own_data",
    "own act": "organizer:accept_invitation accounts:end_browser accounts:end_browsers",
    "where it is set": "security_txt",
    "olga's own row": "accounts:revoke_token",
    "administrator's page": "organizer:account organizer:site_audit organizer:site_audit_file",
    "administrator's form": "organizer:new_campaign",
    "administrator's act": """
        organizer:close_account organizer:open_account organizer:drop_factor organizer:erase_account
    """,
    "desk page": """
        assessor:task assessor:practice assessor:review assessor:history assessor:guidelines
    """,
    "desk button": "assessor:start assessor:restore",
    "desk state": "assessor:state assessor:answer assessor:practice_state assessor:practice_answer",
    "desk act": """
        assessor:ops assessor:practice_ops assessor:beat assessor:hold assessor:gap assessor:submit assessor:remark
    """,
    "anybody's form": """
        account_login account_logout account_signup account_reset_password account_reset_password_from_key healthz
        readyz organizer:invitation
    """,
    "anybody's page": """
        account_inactive account_email_verification_sent account_reset_password_from_key_done
        account_reset_password_done assessor:session organizer:open_invitation socialaccount_login_cancelled
    """,
    "by a mailed link": "account_confirm_email",
    "within a sign-in": "mfa_authenticate socialaccount_signup socialaccount_login_error",
    "with a passkey": "mfa_login_webauthn",
    "with its own token": "metrics",
    "of a provider": "openid_connect_login openid_connect_callback",
    "behind a password": """
        account_reauthenticate account_email account_change_password account_set_password account_confirm_login_code
        mfa_activate_totp mfa_add_webauthn mfa_deactivate_totp mfa_download_recovery_codes
        mfa_edit_webauthn mfa_generate_recovery_codes mfa_index mfa_list_webauthn mfa_reauthenticate
        mfa_reauthenticate_webauthn mfa_remove_webauthn mfa_view_recovery_codes socialaccount_connections
    """,
}

OUTCOMES = ("ok", "in", "no", "--", "by")
