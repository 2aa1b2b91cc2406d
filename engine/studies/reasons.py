"""Why an answer does not count, in the order in which it is looked for, and what that says."""

from __future__ import annotations

from collections.abc import Mapping

REASONS: Mapping[str, str] = {
    "unmatched": "no label for this molecule, by id or by structure",
    "conflict": "the molecule has several different labels",
    "not_asked": "not asked yet, or waiting to be asked again",
    "failed": "the call failed: no reply, or none that could be read",
    "filtered": "the provider's filter cut the reply",
    "recitation": "the provider's filter saw a recitation",
    "empty": "no text, or a missing prediction",
    "refusal": "the model declined",
    "truncated": "the reply was cut before an answer",
    "range": "a range, not a value",
    "bound": "a bound, not a value",
    "uncertain": "a value with its own uncertainty",
    "ambiguous": "several readings, such as a decimal comma",
    "no_number": "no number that is an answer",
    "later_sample": "another sample of the molecule counts",
    "label_zero": "the label is zero and carries no figures",
    "label_short": "the label carries fewer than three figures",
    "answer_short": "the answer carries fewer figures than required",
}
