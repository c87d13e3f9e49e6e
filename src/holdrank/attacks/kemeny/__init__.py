"""Attacks on Kemeny's median, from the door inwards.

`engine` answers goals and curves; `many_items` takes over where walking through all orders is out of the question. A
walk through `targets` prices one target order after the other (`siege`), in compiled loops: `walks` and
`pricing`. `counted` and `integers` do the same in whole votes. `orders` is what all of them know about
orders.
"""
