"""What other packages say about tables of scores: ``python peer_paired_tests.py``, in the environment of the peers.

scikit-posthocs (Nemenyi, Wilcoxon with Holm's correction, the bars of its critical-difference diagram), autorank (the
critical difference), statsmodels (exact McNemar, Holm) and scipy (Friedman) look at generated tables. Tables and
answers are written to results/paired_tests.json, which the tests compare with `paired_tests`.
"""

import json
import warnings
from importlib.metadata import version
from itertools import combinations
from pathlib import Path

import autorank
import matplotlib as mpl
import matplotlib.figure
import numpy as np
import pandas as pd
import scikit_posthocs as sp
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

mpl.use("agg")
PACKAGES = ("scikit-posthocs", "autorank", "statsmodels", "scipy", "numpy")


def tables():
    """Yield the name of a table and its rows, a task each."""
    rng = np.random.default_rng(22)

    def scores(tasks, items, apart, decimals):
        return np.round(rng.normal(size=(tasks, items)) - apart * np.arange(items), decimals)

    yield "few tasks", scores(8, 4, 0.8, 6)
    yield "few tasks with ties", scores(12, 5, 0.6, 0)
    yield "no difference", scores(20, 4, 0.0, 6)
    yield "some tasks with ties and level pairs", scores(30, 6, 0.3, 0)
    yield "some tasks", scores(50, 7, 0.25, 6)
    yield "many tasks", scores(80, 17, 0.15, 4)
    for name, tasks, chances in (
        ("few answers", 14, (0.9, 0.4, 0.2)),
        ("many answers", 150, (0.8, 0.75, 0.6, 0.5, 0.45, 0.2)),
    ):
        hard = rng.normal(size=(tasks, 1))
        yield name, (rng.logistic(size=(tasks, len(chances))) + hard < np.log(np.array(chances) / 0.5)).astype(float)


def holm(p):
    """Return corrected p-values by statsmodels."""
    return multipletests(p, method="holm")[1].tolist()


def answers(rows):
    """Return what the packages say about one table; larger scores are better."""
    n = rows.shape[1]
    names = [f"m{k:02}" for k in range(n)]
    frame = pd.DataFrame(rows, columns=names)
    pairs = list(combinations(range(n), 2))
    friedman = stats.friedmanchisquare(*rows.T)
    ranks = frame.rank(axis=1, ascending=False).mean()
    nemenyi = sp.posthoc_nemenyi_friedman(frame).to_numpy()
    found = {
        "mean_ranks": ranks.tolist(),
        "friedman": float(friedman.statistic),
        "friedman_p": float(friedman.pvalue),
        "nemenyi": [float(nemenyi[pair]) for pair in pairs],
        "bars": bars(ranks, pd.DataFrame(nemenyi, names, names)),
        "critical_difference": critical_difference(frame),
    }
    if np.isin(rows, (0, 1)).all():
        each = []
        for i, j in pairs:
            counts = [[int(((rows[:, i] == a) & (rows[:, j] == b)).sum()) for b in (0, 1)] for a in (0, 1)]
            each.append(float(mcnemar(counts, exact=True).pvalue))
        found["mcnemar"] = holm(each)
    else:
        long = frame.melt(var_name="item", value_name="score")
        wilcoxon = sp.posthoc_wilcoxon(long, "score", "item", p_adjust="holm", sort=True).to_numpy()
        found["wilcoxon"] = [float(wilcoxon[pair]) for pair in pairs]
    return found


def critical_difference(frame):
    """Return the critical difference that autorank reports; None where it does not choose Nemenyi's test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = autorank.autorank(frame, alpha=0.05, verbose=False, force_mode="nonparametric", order="descending")
    return None if told.cd is None else float(told.cd)


def bars(ranks, p):
    """Return the ends of the bars in scikit-posthocs' diagram, in mean ranks."""
    figure = mpl.figure.Figure()
    drawn = sp.critical_difference_diagram(ranks, p, ax=figure.subplots(), alpha=0.05)
    ends = [np.asarray(line.get_xdata()) for group in drawn["crossbars"] for line in np.atleast_1d(group)]
    return sorted([float(x.min()), float(x.max())] for x in ends)


if __name__ == "__main__":
    cases = [{"name": name, "rows": rows.tolist(), **answers(rows)} for name, rows in tables()]
    told = {"packages": {name: version(name) for name in PACKAGES}, "cases": cases}
    Path(__file__).with_name("results").joinpath("paired_tests.json").write_text(json.dumps(told) + "\n")
