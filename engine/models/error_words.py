"""The words by which providers say what an error means: codes and types as sets, sentences as patterns.

Codes are in lower case. A sentence counts only where no code says more, and only under statuses that may mean it.
"""

from __future__ import annotations

import re

_QUOTA_WORDS = """
    insufficient_quota credit_balance_exhausted organization_spend_limit_exceeded project_spend_limit_exceeded
    organization_usage_limit_exceeded billing_not_active billing_hard_limit_reached billing_error
    enforced_spend_limit_reached payment_required budget_exceeded exceeded_budget max_budget_exceeded arrearage
    accountoverdueerror account_overdue account_suspended insufficient_balance insufficient_credits
    exceeded_current_quota_error quota_not_enough insufficient_user_quota pre_consume_token_quota_failed
    1113"""
QUOTA_WORDS = frozenset(_QUOTA_WORDS.split())
"""Money or an allowance that is used up. 1113 is Zhipu's code for an account without balance."""

QUOTA_TEXT = re.compile(
    r"credit balance is too low|insufficient (?:account |user |your )?(?:balance|credits?|funds|quota)"
    r"|balance (?:is |was )?(?:insufficient|not enough|too low|exhausted|negative|depleted)"
    r"|used all available credits|reached your specified api usage limits|credits are depleted"
    r"|(?:out of|no) (?:prepaid )?credits|limit:? 0(?![\d.]*\d)|per-day"
    r"|account\b.{0,60}\b(?:is|was|been) suspended|overdue|arrear|unpaid invoice"
    r"|(?:spend|spending) (?:limit|cap)|budget (?:has been |was |is )?(?:exceeded|exhausted|used up)|max_budget"
    r"|\u4f59\u989d|\u6b20\u8d39",
    re.IGNORECASE | re.DOTALL,
)
"""The last two are Chinese for balance and for arrears."""

KEY_WORDS = frozenset(
    {"invalid_api_key", "api_key_invalid", "authentication_error", "authentication", "unauthenticated"}
)
KEY_TEXT = re.compile(
    r"api[ _-]?key (?:is )?(?:not valid|invalid)|(?:incorrect|invalid|no) (?:x-)?api[ _-]?key", re.IGNORECASE
)

_CONTENT_WORDS = """
    invalid_prompt content_policy_violation cyber_policy content_filter responsibleaipolicyviolation refusal
    data_inspection_failed datainspectionfailed sensitive_words_detected guardrail_violation guardrail_intervened
    moderation_error moderation_blocked content_moderation prohibited_content prompt_blocked blocked_content
    content_blocked content_policy_error content_safety 1301"""
CONTENT_WORDS = frozenset(_CONTENT_WORDS.split())
"""A block of the question or of the answer. 1301 is Zhipu's code for sensitive content."""

CONTENT_TEXT = re.compile(
    r"usage guidelines|safety_check_type|new_sensitive|sensitive_words|\u654f\u611f"
    r"|inappropriate (?:content|material)"
    r"|(?:blocked|rejected|refused|flagged|withheld)\b.{0,60}\b"
    r"(?:guardrail|moderation|safety|content (?:filter|policy))"
    r"|(?:guardrail|moderation|content filter|safety (?:system|filter))\b.{0,40}\b"
    r"(?:blocked|rejected|refused|flagged)"
    r"|violat\w+ .{0,60}(?:content|usage|safety) polic|content management policy",
    re.IGNORECASE | re.DOTALL,
)
"""The Chinese word is the one for sensitive."""

CONTEXT_TEXT = re.compile(
    r"maximum context length|context_length|prompt is too long|input token count exceeds|exceed_context_size"
    r"|context (?:window|size) (?:is )?exceeded|exceeds the (?:available |maximum )?context",
    re.IGNORECASE,
)
ENDPOINT_TEXT = re.compile(r"(?:unexpected|unknown|no such) (?:endpoint|route|path)", re.IGNORECASE)

CRASH_TEXT = re.compile(
    r"(?:model|runner|process|engine|worker|backend|server|shard)\b.{0,60}?\b"
    r"(?:crashed|has terminated|terminated unexpectedly|unexpectedly stopped|died|exited|was killed)"
    r"|out of memory|cuda error",
    re.IGNORECASE | re.DOTALL,
)
"""A local server whose model process fell over: it starts another one."""

LOADING_TEXT = re.compile(
    r"\bload(?:ing)? (?:the )?model\b|model\b.{0,80}?\b(?:is|still) (?:currently |still )?(?:being )?load"
    r"|warming up|model is starting",
    re.IGNORECASE | re.DOTALL,
)

TOO_LARGE_TEXT = re.compile(
    r"limit:? *([\d,]+)\b.{0,60}?\brequested:? *([\d,]+)\b", re.IGNORECASE | re.DOTALL
)
"""A limit per minute and what one request takes of it."""

WORD_STATUS = (
    ("base_resp 1001", 504),
    ("base_resp 1002", 429),
    ("base_resp 1004", 401),
    ("base_resp 1008", 402),
    ("base_resp 1026", 400),
    ("base_resp 1027", 400),
    ("base_resp 1039", 429),
    ("base_resp 1041", 429),
    ("base_resp 2013", 400),
    ("base_resp 2045", 429),
    ("base_resp 2049", 401),
    ("rate_limit", 429),
    ("rate limit", 429),
    ("too_many_requests", 429),
    ("resource_exhausted", 429),
    ("slow_down", 429),
    ("overloaded", 503),
    ("unavailable", 503),
    ("capacity_exceeded", 503),
    ("insufficient_system_resource", 503),
    ("timeout", 504),
    ("timed_out", 504),
    ("deadline_exceeded", 504),
    ("not_found", 404),
    ("permission", 403),
    ("context_length", 400),
    ("exceed_context_size", 400),
    ("invalid_request", 400),
    ("invalid_argument", 400),
)
"""Words that stand for a status where HTTP says 200 or the number is missing; matched as a part of the word."""
