"""Telling things from the scene behind them, without knowing what things there are."""
