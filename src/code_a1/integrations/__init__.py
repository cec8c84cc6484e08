"""Rewards for people who keep their trainer: TRL's GRPOTrainer and verl, judged by our sandbox."""
