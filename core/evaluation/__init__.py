"""What a reasoning budget buys: problems, outcomes, votes and sweeps over `Reasoning` runs."""
