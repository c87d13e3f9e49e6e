"""An independent check of results: no engine is asked and no solver is trusted.

`exact` computes statistics from their definitions, `programs` runs them on unknown votes, `bounds` proves that no
cheaper votes give an answer, `search` goes through all answers; all in whole numbers, for few items. Strengths of
Bradley and Terry are no whole numbers: `strengths` encloses them, `movements` bounds how far battles move them, both
with outward `rounding`, and `races` says what battles cannot do. Whoever has a proof of this kind need trust nothing
but these pages.
"""
