"""Attacks on Kemeny's median, from the entry point inwards.

`engine` answers goals and curves; `many_items` takes over where a walk through all orders is not feasible. A walk
through `targets` prices one target order after the other (`siege`), in compiled loops: `walks` and `pricing`. `counted`
and `integers` do the same in whole votes. `orders` holds what they share about orders.
"""
