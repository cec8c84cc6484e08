"""The paper's claims as an experiment at the lab's scale: arms, rules stated beforehand, runs, verdicts."""
