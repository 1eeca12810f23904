"""Learning word models from clips and sentences: EM, discriminative training, calibration."""
