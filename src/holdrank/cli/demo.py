"""The command `demo`: a generated data set, from votes to report."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import click

from holdrank.cli.attack import attack_parts
from holdrank.cli.printing import progress_line
from holdrank.cli.rank import print_ranking, print_tiers


@click.command()
@click.option("--out", default="holdrank-demo", show_default=True, help="Folder for the results.")
@click.option("--seed", type=int, default=2023, show_default=True, help="Seed of the generated votes.")
@click.option("--theta", type=click.FloatRange(0, 0.5), default=0.05, show_default=True,
              help="Threshold of the printed tiers; the report chooses its own.")  # fmt: skip
def demo(out: str, seed: int, theta: float) -> None:
    """Run a complete analysis on generated votes."""
    from holdrank.analysis.analyse import analyse
    from holdrank.analysis.records import command_record, ranking_record, tiers_record
    from holdrank.analysis.spec import Spec
    from holdrank.attacks.answers import attack
    from holdrank.attacks.goals import NewWinner
    from holdrank.files import write_votes
    from holdrank.files.writers import make_folder, write_whole
    from holdrank.rules.consensus import kemeny
    from holdrank.rules.merges import Robust
    from holdrank.views.report import write_report
    from holdrank.votes.models import example_votes

    votes = example_votes(seed)
    consensus = kemeny(votes)
    merged = Robust(kemeny, theta).merged(votes, consensus)
    with progress_line(False) as progress:
        found = attack(votes, kemeny, NewWinner(), progress=progress)
    folder = Path(out)
    make_folder(folder)
    write_votes(votes, folder / "votes.soc")
    parts = {
        "consensus": ranking_record("kemeny", consensus),
        "tiers": tiers_record(theta, "downward", merged, auto=False),
        "attack": attack_parts(found, kemeny)["attack"],
    }
    summary = command_record("demo", votes, spec={"seed": seed, "theta": theta}, generated=True, **parts)
    write_whole(folder / "consensus.json", (json.dumps(summary, indent=2, ensure_ascii=False) + "\n").encode())
    click.echo(f"Generated data, not real votes: 500 ballots drawn from a Plackett-Luce model with seed {seed}.\n")
    print_ranking(votes, consensus, "Kemeny consensus")
    click.echo()
    print_tiers(votes, merged, consensus, f"Tiers at theta = {theta:g}", "downward")
    click.echo(f"\n{found.text()}")
    with progress_line(False) as progress:
        analysis = analyse(votes, Spec(k=3, time_limit=4.0), progress=progress)
    write_report(analysis, folder / "report.html")
    click.echo(f"\nWritten: {folder / 'votes.soc'}, {folder / 'consensus.json'}, {folder / 'report.html'}")
    program = "holdrank" if shutil.which("holdrank") else sys.argv[0]
    click.echo(f"Next: {program} attack {folder / 'votes.soc'} --new-winner")
