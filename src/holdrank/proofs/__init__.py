"""An independent check of results in whole numbers: no engine is asked and no solver is trusted.

`exact` computes statistics from their definitions, `programs` runs them on unknown votes, `bounds` proves that no
cheaper votes give an answer, `search` goes through all answers. For few items; whoever has a proof of this kind need
trust nothing but these pages.
"""
