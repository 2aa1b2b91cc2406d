"""The simulated models do what they say, at the rates they say. Chances of a false alarm stand beside the
bounds.
"""

import json
import math
import subprocess
import sys
from decimal import ROUND_HALF_EVEN, Decimal

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given, settings
from scipy import stats

from molaudit.engine.benchmarks import BENCHMARKS
from molaudit.engine.models import simulated
from molaudit.engine.models.hostile import _TEXTS
from molaudit.engine.models.simulated import Simulated, answers, three_figures, window

ALPHA = 1e-9  # The chance that a correct program fails one of the bounds below.

GOLDEN = ["Answer: 78.2", "Answer: -19.1", "Answer: -88.6"]
GOLDEN_PSEUDO = "158.6"


@pytest.fixture(scope="module")
def boiling() -> pl.DataFrame:
    """The boiling points that carry three figures or more: 3,955 of them."""
    frame = BENCHMARKS.get("crc-boiling-points").load().frame
    digits = pl.col("label").str.replace_all(r"[-.]", "").str.strip_chars("0")
    return frame.filter(digits.str.len_chars() >= 3)


def number(reply: str) -> float:
    assert reply.startswith("Answer: ")
    return float(reply.removeprefix("Answer: "))


def agree(reply: str, label: str, figures: int) -> bool:
    spec = f".{figures - 1}e"
    return format(number(reply), spec) == format(float(label), spec)


def count(name: str, frame: pl.DataFrame, seed: int, figures: int) -> int:
    return sum(
        agree(reply, label, figures)
        for reply, label in zip(answers(name, frame, seed), frame["label"], strict=True)
    )


@pytest.mark.parametrize(("name", "share"), [("reciter", 0.6), ("reciter-10", 0.1), ("reciter-35", 0.35)])
def test_a_reciter_recites_its_share(boiling: pl.DataFrame, name: str, share: float) -> None:
    """Three figures agree if recited, else by chance: the window is 100 three-figure numbers wide, 55 for a
    leading 1. Ten seeds, so that a share that is off by 0.02 is seen."""
    seeds = range(10)
    leads = sum(format(float(label), ".0e").lstrip("-").startswith("1") for label in boiling["label"])
    chance = (leads / 55 + (boiling.height - leads) / 100) / boiling.height
    hits = sum(count(name, boiling, seed, 3) for seed in seeds)
    # The ends of a window are half as likely as its inside: less than a thousandth of all draws.
    low, high = (
        stats.binom.ppf(ALPHA, 10 * boiling.height, share + (1 - share) * (chance - 1e-3)),
        stats.binom.isf(ALPHA, 10 * boiling.height, share + (1 - share) * (chance + 1e-3)),
    )
    assert low <= hits <= high


def test_the_skilled_model_has_every_first_figure_and_a_full_reciter_every_third(
    boiling: pl.DataFrame,
) -> None:
    assert count("skilled", boiling, 1, 1) == boiling.height
    assert count("reciter-100", boiling, 1, 3) == boiling.height


def test_the_skilled_model_knows_nothing_below_the_first_figure(boiling: pl.DataFrame) -> None:
    """Within one first figure 2 to 9 the position in its interval is uniform (Kolmogorov-Smirnov), and so is it for
    a leading 1 over 0.95 to 1.5; the chance of a false alarm is ALPHA for each."""
    positions: dict[bool, list[float]] = {True: [], False: []}
    for reply, label in zip(answers("skilled", boiling, 3), boiling["label"], strict=True):
        first = format(float(label), ".0e")
        digit, exponent = int(first.lstrip("-")[0]), int(first.split("e")[1])
        low, high = (0.95 if digit == 1 else digit - 0.5), digit + 0.5
        positions[digit == 1].append((abs(number(reply)) / 10.0**exponent - low) / (high - low))
    assert min(map(len, positions.values())) > 800
    # Three-figure answers lie on a grid of 55 or 100 points: the steps widen the distance by half a step at most.
    for lead, grid in ((True, 55), (False, 100)):
        distance = stats.kstest(positions[lead], "uniform").statistic - 0.5 / grid
        assert stats.kstwo.sf(max(distance, 0.0), len(positions[lead])) > ALPHA


def test_the_noisy_model_has_the_correlation_of_its_name(boiling: pl.DataFrame) -> None:
    replies = [number(reply) for reply in answers("skilled-95", boiling, 1)]
    r = stats.pearsonr(replies, [float(label) for label in boiling["label"]]).statistic
    # Fisher: atanh r is normal with standard deviation 1 / sqrt(n - 3); tails of the labels cost some of that.
    assert abs(math.atanh(r) - math.atanh(0.95)) < 8 / math.sqrt(boiling.height - 3)


def test_the_blind_model_draws_from_the_labels_whatever_the_molecule(boiling: pl.DataFrame) -> None:
    replies = answers("blind", boiling, 5)
    shown = {format(float(label), ".2e") for label in boiling["label"]}
    assert {format(number(reply), ".2e") for reply in replies} <= shown
    labels = [float(label) for label in boiling["label"]]
    numbers = [number(reply) for reply in replies]
    assert abs(stats.spearmanr(numbers, labels).statistic) < 6 / math.sqrt(boiling.height)
    assert stats.ks_2samp(numbers, labels).pvalue > ALPHA


def test_the_constant_model_says_the_median(boiling: pl.DataFrame) -> None:
    assert len(set(answers("constant", boiling, 1))) == 1
    median = float(boiling["label"].cast(pl.Float64).median())
    assert agree(answers("constant", boiling, 1)[0], repr(median), 3)


def test_the_hostile_model_uses_every_trick_and_is_text_that_utf8_can_hold(boiling: pl.DataFrame) -> None:
    replies = answers("hostile", boiling, 1)
    # 30 tricks over 3,955 molecules: one is missed with a chance of 30 * (29 / 30) ** 3955 < 1e-56.
    assert len(set(_TEXTS)) == len(_TEXTS)
    model = Simulated("hostile", {}, 1)
    assert max(map(len, replies)) > 90_000
    for needle in (
        "\x00",
        "\u2028",
        "<script>",
        "=HYPERLINK",
        "\x1b[",
        "<think>",
        "I'm sorry",
        "between",
        "User:",
    ):
        assert any(needle in reply for reply in replies), needle
    assert "" in replies
    assert all(reply.encode() is not None for reply in [*replies, model.answer("\ud800")])


@pytest.mark.parametrize("name", [*simulated.names(), "skilled-90", "reciter@again"])
def test_an_answer_depends_on_seed_model_molecule_and_repeat_only(boiling: pl.DataFrame, name: str) -> None:
    some = boiling.head(200)
    there = answers(name, some, 1)
    assert answers(name, some.reverse(), 1) == there[::-1]
    assert answers(name, some, 1) == there
    if name != "constant":
        assert answers(name, some, 2) != there
        assert answers(name.split("@", maxsplit=1)[0] + "@other", some, 1) != there
    if name not in {"constant", "reciter"}:
        assert answers(name, some, 1, repeat=1) != there


def test_another_process_gives_the_same_answers(boiling: pl.DataFrame) -> None:
    code = (
        "import json; from molaudit.engine.models.simulated import Simulated;"
        "m = Simulated('reciter', {'CCO': '78.24'}, 9); print(json.dumps([m.answer(str(n)) for n in range(99)]))"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    model = Simulated("reciter", {"CCO": "78.24"}, 9)
    assert json.loads(other.stdout) == [model.answer(str(n)) for n in range(99)]


def test_these_answers_never_change() -> None:
    """Golden: caches and published examples hold them."""
    model = Simulated("reciter", {"CCO": "78.24", "C=O": "-19.1", "CC": "-88.6"}, 1)
    assert [model.answer(smiles) for smiles in ("CCO", "C=O", "CC")] == GOLDEN
    assert simulated.pseudo_label("CCO") == GOLDEN_PSEUDO


def test_a_sample_is_answered_as_the_whole_is_when_all_labels_are_known(boiling: pl.DataFrame) -> None:
    labels = simulated.labels_of(boiling)
    for name in simulated.names():
        assert answers(name, boiling, 1)[:50] == answers(name, boiling.head(50), 1, labels=labels)


def test_what_is_memorised_is_recited_in_every_repeat_and_at_every_effort(boiling: pl.DataFrame) -> None:
    some = boiling.head(300)
    recited = [
        agree(a, label, 3) for a, label in zip(answers("reciter", some, 1), some["label"], strict=True)
    ]
    again = answers("reciter", some, 1, repeat=3, effort="high")
    kept = [agree(a, label, 3) for a, label in zip(again, some["label"], strict=True)]
    # A molecule that is not memorised agrees by chance at most once in 50: P(Bin(300, 0.04) > 40) < 1e-9.
    assert sum(one != two for one, two in zip(recited, kept, strict=True)) <= 40
    assert sum(one and two for one, two in zip(recited, kept, strict=True)) > 130


def test_a_molecule_that_no_table_holds_gets_the_same_made_up_label_from_all_models() -> None:
    label = simulated.pseudo_label("C#N")
    assert 20 <= float(label) < 400
    for seed, name in enumerate(("reciter-100", "skilled")):
        assert agree(Simulated(name, {"CCO": "78.2"}, seed).answer("C#N"), label, 1)
    assert agree(Simulated("reciter-100", {"C#N": "n/a"}, 3).answer("C#N"), label, 3)


@pytest.mark.parametrize(
    ("effort", "mean"),
    [(None, 0), ("none", 0), ("minimum", 0), ("low", 256), ("standard", 1024), ("high", 4096), ("700", 700)],
)
def test_reasoning_tokens_follow_the_effort(effort: str | None, mean: int) -> None:
    model = Simulated("skilled", {}, 1)
    tokens = [model.reasoning_tokens(str(n), 0, effort) for n in range(400)]
    assert all(mean / 2 - 1 <= count <= mean * 1.5 + 1 for count in tokens)
    # Uniform over a width of `mean`: standard deviation of the average is mean / sqrt(12 * 400); six of them.
    assert abs(sum(tokens) / 400 - mean) <= 6 * mean / math.sqrt(12 * 400)


def test_an_effort_that_no_level_stands_for_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"unknown effort 'ultra'.*standard"):
        Simulated("skilled", {}, 1).reasoning_tokens("C", 0, "ultra")


@pytest.mark.parametrize(
    "name", ["recite", "reciter-101", "skilled-0", "skilled-100", "blind-3", "", "reciter-x"]
)
def test_a_name_that_no_model_has_lists_those_that_exist(name: str) -> None:
    with pytest.raises(ValueError, match=r"reciter, reciter-10, skilled, .* hostile, reciter-N"):
        Simulated(name, {}, 1)


@given(st.floats(-1e308, 1e308))
@settings(deadline=None, max_examples=300)
def test_three_figures_carries_the_digits_that_format_gives(value: float) -> None:
    text = three_figures(value)
    assert format(float(text), ".2e") == format(value, ".2e").replace("-0.00e+00", "0.00e+00")
    if 1e-5 <= abs(value) < 9.995e6:
        assert "e" not in text


@pytest.mark.parametrize(
    ("value", "text"),
    [(182.7, "183"), (-19.1, "-19.1"), (0.5, "0.500"), (1234.5, "1230"), (9.996, "10.0"), (99.95, "100"),
     (0.0318, "0.0318"), (1e-7, "1.00e-07"), (0.0, "0"), (2.0, "2.00")],
)  # fmt: skip
def test_three_figures_by_hand(value: float, text: str) -> None:
    assert three_figures(value) == text


@given(st.decimals("-1e6", "1e6", places=3).filter(bool), st.floats(0, 1, exclude_max=True))
@settings(deadline=None, max_examples=300)
def test_a_window_draw_keeps_the_first_figure_and_its_interval(label: Decimal, u: float) -> None:
    text = window(float(label), lambda n: (u + 0.37 * n) % 1)
    assert format(float(text), ".0e") == format(float(label), ".0e")
    assert len(Decimal(text).as_tuple().digits) >= 3 or Decimal(text).as_tuple().exponent > 0


def test_rounding_half_to_even_is_what_the_oracle_does() -> None:
    assert three_figures(0.125) == str(Decimal("0.125").quantize(Decimal("0.001"), ROUND_HALF_EVEN))
    assert three_figures(2.675) == "2.67"  # the binary value lies below the tie
