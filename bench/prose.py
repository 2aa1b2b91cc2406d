"""Replies like those of chatty models, made here: some 1.7 kB of prose with steps, names, units and one answer."""

from __future__ import annotations

import random

_NAMES = (
    "4-chloroaniline", "2,4-dinitrotoluene", "1-methyl-2-pyrrolidone", "ethyl 3-hydroxybutanoate", "N,N-dimethylurea",
    "bicyclo[2.2.1]heptane", "p-xylene", "caffeine", "dibenzofuran", "2-(4-chlorophenoxy)acetic acid", "CCN(CC)CC",
    "c1ccc2c(c1)CCN2", "CC(=O)Oc1ccccc1C(=O)O", "nitrobenzene", "5,5-diallylbarbituric acid", "1-hexanol",
)  # fmt: skip
_OPENINGS = (
    "To estimate the {p} of {m}, I will start from its structure and then compare it with known compounds.",
    "Let me work through this step by step. The compound {m} has several functional groups that matter here.",
    "{m} is a fairly small molecule. Its {p} follows mostly from the balance of polar and non-polar parts.",
    "**Approach.** We need the {p} of {m}; a group-contribution estimate and a comparison with analogues will do.",
    "Looking at the structure of {m}, there are {k} heavy atoms and {r} ring{s}.",
)
_BODY = (
    "The aromatic ring is hydrophobic and contributes about {a} log units relative to the parent alkane.",
    "A hydroxyl group usually lowers the value by roughly {b}, because it donates and accepts hydrogen bonds.",
    "For comparison, {m2} has a reported value of {c} at 25 °C, and its isomer is a little lower.",
    "The molecular weight is {w} g/mol, so crystal packing should not dominate at room temperature.",
    "Halogens withdraw electron density; with {r} of them the polar surface shrinks and the value moves by {b}.",
    "Experimental data for this series (see Table {r} of the 20{r}1 compilation) scatter by ±{a}.",
    "Steric effects around the carbonyl group would be expected to matter less than the ionisation at pH 7.4.",
    "If we take {m2} as the reference and add two methylene groups, the trend is {c} - {a} = {d}.",
    "Intramolecular hydrogen bonding may compete with solvation, which makes simple additive schemes less certain.",
    "The melting point is probably near {t} °C, which enters the general solubility equation through 0.01(mp - 25).",
    "Using a rule of thumb, each CH2 group adds 0.5 to 0.6 units, while branching takes away a tenth of that.",
    "I do not have a measured number for exactly this compound in mind, so the estimate rests on its neighbours.",
    "- The ring system: {a}\n- The polar group: -{b}\n- The chain: {d}",
    "Overall the molecule is moderately lipophilic, and nothing in its structure suggests unusual behaviour.",
    "It is worth noting that values of such compounds are sensitive to the ionic strength and to the method used.",
    "1. Identify the scaffold and its substituents.\n2. Compare with {m2}.\n3. Correct for the difference.",
)
_ENDINGS = (
    "Therefore, the predicted {p} is {x}.",
    "**Answer: {x}**",
    "Final answer: {x}",
    "So my best estimate is {x} {u}.",
    "**Predicted {p}: {x}**",
    "Taking everything together, I estimate a {p} of about {x}.",
    "$$\\boxed{{{x}}}$$",
    "<answer>{x}</answer>",
    '```json\n{{"answer": {x}, "confidence": 0.7}}\n```',
    "### Final Answer\n\n**{x}**",
    "{x}",
    "The {p} should lie between {x} and {c}.",
    "Final answer: {x} (plausible range {d} to {c})",
)
_PROPERTIES = ("logS", "aqueous solubility (log mol/L)", "hydration free energy", "logP", "boiling point")
_UNITS = ("log mol/L", "kcal/mol", "", "°C")


def reply(rng: random.Random, size: int = 1_700) -> str:
    """One reply of about ``size`` characters."""
    p, u = rng.choice(_PROPERTIES), rng.choice(_UNITS)

    def filled(template: str) -> str:
        return template.format(
            p=p, u=u, m=rng.choice(_NAMES), m2=rng.choice(_NAMES), k=rng.randint(5, 30), r=rng.randint(1, 4),
            s=rng.choice(("", "s")), a=f"{rng.uniform(0, 3):.2f}", b=f"{rng.uniform(0, 2):.1f}", c=_number(rng),
            d=_number(rng), w=f"{rng.uniform(60, 500):.1f}", t=rng.randint(30, 250), x=_number(rng),
        )  # fmt: skip

    parts = [filled(rng.choice(_OPENINGS))]
    length = len(parts[0])
    while length < size - 100:
        parts.append(filled(rng.choice(_BODY)))
        length += len(parts[-1]) + 1
    parts.append(filled(rng.choice(_ENDINGS)))
    text = rng.choice((" ", "\n\n", "\n")).join(parts[:-1]) + "\n\n" + parts[-1]
    return text.replace("-", "\u2212") if rng.random() < 0.15 else text


def _number(rng: random.Random) -> str:
    return f"{rng.gauss(-2, 3):.{rng.choice((1, 2, 2, 2, 3))}f}"


def replies(n: int, seed: int = 0, size: int = 1_700) -> list[str]:
    """``n`` different replies."""
    rng = random.Random(seed)
    return [reply(rng, size) for _ in range(n)]
