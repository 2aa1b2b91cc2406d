"""Units as written, brought to one name each. Nothing is ever converted."""

from __future__ import annotations

import re

from ._search import is_whole

_PER_MOL = r"(?:\s?/\s?mol(?:e)?|\s?[·*]?\s?mol\s?(?:\^?\{?-1\}?|⁻¹)|\s?per\smole?)"
_PER_L = (
    r"(?:\s?/\s?(?:L|l|dm3|dm³|dm\^3|liter|litre)|\sper\s(?:liter|litre)"
    r"|\s?[·*]?\s?(?:L|l|dm)\s?(?:\^?\{?-[13]\}?|⁻[¹³]))"
)
_PER_ML = r"(?:\s?/\s?m[Ll]|\s?[·*]?\s?m[Ll]\s?(?:\^?\{?-1\}?|⁻¹))"
_PER_KG = r"(?:\s?/\s?kg|\s?[·*]?\s?kg\s?(?:\^?\{?-1\}?|⁻¹))"
_PER_S = r"(?:\s?/\s?s(?:ec)?|\s?[·*]?\s?s\s?(?:\^?\{?-1\}?|⁻¹)|\sper\ssecond)"

# Longer spellings before their beginnings. One-letter units of everyday letters need a space before them.
_SPELLINGS: tuple[tuple[str, str], ...] = (
    ("kcal/mol", rf"k[Cc]al{_PER_MOL}"),
    ("kJ/mol", rf"[kK]J{_PER_MOL}"),
    ("J/mol", rf"J{_PER_MOL}"),
    ("g/mol", rf"g{_PER_MOL}|amu|Da|u(?=\s?[.,;)]?$)"),
    ("mol/L", rf"mol(?:es)?{_PER_L}|M"),
    ("mol/kg", rf"mol{_PER_KG}"),
    ("mmol/L", rf"mmol{_PER_L}|mM"),
    ("umol/L", rf"[µu]mol{_PER_L}|[µu]M"),
    ("nmol/L", rf"nmol{_PER_L}|nM"),
    ("mg/kg", rf"mg{_PER_KG}"),
    ("g/kg", rf"g{_PER_KG}"),
    ("mg/mL", rf"mg{_PER_ML}"),
    ("ug/mL", rf"[µu]g{_PER_ML}"),
    ("g/mL", rf"g{_PER_ML}|g\s?/\s?cm(?:3|³|\^3)"),
    ("mg/L", rf"mg{_PER_L}"),
    ("g/L", rf"g{_PER_L}"),
    ("cm/s", rf"cm{_PER_S}"),
    ("cm-1", r"cm\s?(?:\^?\{?-1\}?|⁻¹)"),
    ("eV", r"eV|electron\s?volts?"),
    ("meV", r"meV"),
    ("hartree", r"[Hh]artrees?|E_?h|a\.u\.|Ha"),
    ("degC", r"°\s?C|℃|deg(?:rees?)?\.?\s?(?:C(?:elsius)?|celsius)|[Cc]elsius|degrees?|°"),
    ("degF", r"°\s?F|℉|deg(?:rees?)?\.?\s?F(?:ahrenheit)?"),
    ("K", r"K|[Kk]elvin|°\s?K"),
    ("%", r"%|percent|per\s?cent|pct"),
    ("mmHg", r"mm\s?Hg|[Tt]orr"),
    ("kPa", r"kPa"),
    ("MPa", r"MPa"),
    ("Pa", r"Pa"),
    ("atm", r"atm(?:ospheres?)?"),
    ("bar", r"m?bar"),
    ("nm", r"nm"),
    ("angstrom", r"Å|[Aa]ngstr[oö]ms?"),
    ("kg", r"kg"),
    ("mg", r"mg"),
    ("ug", r"[µu]g"),
    ("g", r"(?<=\s)g(?:rams?)?"),
    ("mL", r"m[Ll]"),
    ("uL", r"[µu]L"),
    ("L", r"(?<=\s)L"),
    ("MHz", r"[MG]Hz"),
    ("h", r"(?<=\s)(?:h|hrs?|hours?)"),
    ("min", r"min(?:utes?)?"),
    ("s", r"(?<=\s)(?:s|sec|seconds?)"),
    ("day", r"days?"),
    ("D", r"(?<=\s)D|[Dd]ebye"),
)

TEMPERATURES = frozenset({"degC", "degF", "K"})

CONDITIONS = TEMPERATURES | {"mmHg", "kPa", "MPa", "Pa", "atm", "bar", "kg", "mg", "ug", "g", "mL", "uL", "L"} | {
    "MHz", "h", "min", "s", "day", "nm",
}  # fmt: skip
"""Units in which replies state circumstances (temperature, pressure, amounts) more often than answers."""

_LOG = r"(?:-?\s?log(?:10|_\{?10\}?|₁₀)?\s?\(?\s?)"
_NAMES = {f"u{index}": name for index, (name, _) in enumerate(_SPELLINGS)}
_ANY = "|".join(f"(?P<u{index}>{spelling})" for index, (_, spelling) in enumerate(_SPELLINGS))
_UNIT = re.compile(rf"\s{{0,3}}[(\[]?(?P<log>{_LOG})?(?:{_ANY})(?![\w^])[)\]]?")
_LOG_UNITS = re.compile(r"\s{0,3}\(?log(?:\s?units?)?(?![\w])\)?")
_CELSIUS_C = re.compile(r"\sC(?![\w°-])")


# What no unit begins with: a mark of punctuation, a common word. To try all spellings takes 5 us.
_NEXT = re.compile(r"\s{0,3}[(\[]?(\S?[a-z]*+)")
_WORDS = (
    "kcal", "mol", "mmol", "umol", "nmol", "amu", "elec", "hart", "deg", "cels", "kelv", "perc", "per", "pct",
    "torr", "atm", "bar", "mbar", "angs", "gram", "hrs", "hour", "min", "sec", "day", "deby", "log", "gmol", "mgkg",
    "mgml", "mgl", "mgdm", "ugml", "gkg", "gml", "gdm", "cms", "molkg",
)  # fmt: skip
_PAIRS = ("kg", "mg", "ug", "nm", "cm", "mm", "hr", "ml", "ul", "gl")
_FIRSTS = frozenset("kKJgauDmMµneEhHA°℃℉dcCFp%tTPbÅLGsl-")


def _is_no_unit(normal: str, at: int) -> bool:
    match = _NEXT.match(normal, at)
    word = match[1] if match else ""
    if word[:1] not in _FIRSTS:
        return True
    return (
        len(word) > 2 and word.isascii() and word.isalpha() and word.islower() and not word.startswith(_WORDS)
    )


def read_unit(normal: str, at: int) -> tuple[str | None, int]:
    """The unit that starts at a position (a space may come first), and where it ends. None: no known unit."""
    if not is_whole() and _is_no_unit(normal, at):
        return None, at
    match = _UNIT.match(normal, at)
    if match is None:
        if celsius := _CELSIUS_C.match(normal, at):
            return "degC", celsius.end()
        logarithm = _LOG_UNITS.match(normal, at)
        return (None, logarithm.end()) if logarithm else (None, at)
    name = _NAMES[match.lastgroup or ""]
    end = match.end()
    # A parenthesis round a unit holds nothing else, and only one that was opened is closed.
    opened = match[0].lstrip().startswith(("(", "["))
    closed = match[0].endswith((")", "]"))
    if opened and not closed:
        return None, at
    if closed and not opened and not match["log"]:
        end -= 1
    return ("log " + name if match["log"] else name), end


def canonical_unit(unit: str | None) -> str | None:
    """One name for a declared unit: ``"kcal mol^-1"`` is ``"kcal/mol"``; an unknown one is itself."""
    if unit is None or not unit.strip():
        return None
    plain = unit.strip()
    found, end = read_unit(plain.replace("−", "-"), 0)
    return found if found and end >= len(plain) else plain.casefold()


def same_unit(found: str, declared: str) -> bool:
    """Whether a written unit may stand for the declared one: the log of a quantity is often given its unit."""
    return found.removeprefix("log ") == declared.removeprefix("log ")
