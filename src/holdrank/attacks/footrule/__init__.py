"""Attacks on the footrule median: `engine` searches over target rankings, `places` prices one."""
