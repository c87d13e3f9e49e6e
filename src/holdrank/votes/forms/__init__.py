"""Rows of a table become ballots: what CSV files, Parquet files, spreadsheets and data frames share.

A `Table` holds named columns of text (or of numbers, where the source is typed) and knows the line of each
row. One function per form turns it into `RawBallots`, which `holdrank.votes.votes` makes into `Votes`: `battles` and
`pair_counts` in `battles`, `score_table` in `scores`, ballots of names in `orders`, ballots of numbers in `marks`;
`frames` reads data frames, `raw` holds the resulting ranks, `table_options` the options, and `notes` the remarks.

Each form takes a `Problems`, which raises the first `InputError` if strict and otherwise collects all.
"""

from __future__ import annotations

from holdrank.votes.forms.frames import battles_from_frame, scores_from_frame
from holdrank.votes.forms.raw import RawBallots
from holdrank.votes.forms.table import Problems, Table
from holdrank.votes.forms.vocabulary import BLANKS

__all__ = ["BLANKS", "Problems", "RawBallots", "Table", "battles_from_frame", "scores_from_frame"]
