"""The programs that rules and proofs hand to a solver."""
