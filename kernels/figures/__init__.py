"""Significant figures of doubles, exact: codes, cleaning, figures carried, and agreement counts."""

from .comparing import agreement, agreement_pairwise, carried, clean, codes, codes_all, depth, text

__all__ = ["agreement", "agreement_pairwise", "carried", "clean", "codes", "codes_all", "depth", "text"]
