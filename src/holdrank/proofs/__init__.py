"""An independent check of results that uses no engine and trusts no solver.

`exact` computes statistics from their definitions, `programs` runs them on unknown votes, `bounds` proves that no
cheaper votes give an outcome, and `search` goes through all outcomes; all in whole numbers, for few items.
Bradley-Terry strengths are not whole numbers: `strengths` encloses them, `movements` bounds how far battles move them,
both with outward `rounding`, and `races` derives what battles cannot do. Such a proof relies on nothing outside this
package.
"""
