"""``python -m holdrank`` is the command ``holdrank``."""

from holdrank.cli import main

main()
