"""CCA and EM beside peers on the same matrices, and features per second: ``--json`` for machines.

scikit-learn's CCA iterates (NIPALS), cca-zoo solves an eigenvalue problem, ours takes three SVDs;
all get the same centred matrices, and the correlation each reaches is measured alike. The E and M
steps of the mixture are timed beside scikit-learn's Gaussian mixture on the joint vectors, which
does about the same arithmetic. Teaching is timed with 450 rendered blocks of 320 x 240 and a word
each, written or spoken (made-up recordings: three tones a word), from pictures to discriminants.
"""

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.number_blocks import render_blocks
from wordsight.attributes import (
    CCA,
    AttributeLearner,
    Autocorrelation,
    Colours,
    Frequencies,
    Gradients,
)
from wordsight.attributes.features.sounds import Sound
from wordsight.attributes.features.speech import mel_cepstrum
from wordsight.attributes.grouping.linear_mixture import LinearMixture

__all__ = ["main", "measure"]

Array = NDArray[np.float64]

PAIRS, PICTURE_FEATURES, SPEECH_FEATURES, DIRECTIONS = 600, 150, 120, 10
COMPONENTS, STEPS = 3, 30
LESSONS, ANSWERS = 450, 50


def fastest(work: Callable[[], Any], turns: int) -> float:
    """Return the processor seconds of the fastest of several turns."""
    best = np.inf
    for _ in range(turns):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return float(best)


def sources(seed: int = 0) -> tuple[Array, Array]:
    """Return two sources of the paper's size that share ten directions."""
    random = np.random.default_rng(seed)
    shared = random.normal(size=(PAIRS, DIRECTIONS))
    return tuple(  # type: ignore[return-value]
        shared @ random.normal(size=(DIRECTIONS, width)) + random.normal(size=(PAIRS, width)) * 3
        for width in (PICTURE_FEATURES, SPEECH_FEATURES)
    )


def reached(left: Array, right: Array) -> float:
    """Return the mean absolute correlation of matching columns."""
    pairs = zip(left.T, right.T, strict=True)
    return float(np.mean([abs(np.corrcoef(a, b)[0, 1]) for a, b in pairs]))


def compare_cca(turns: int) -> dict[str, dict[str, float]]:
    """Time every CCA on the same matrices; a peer that is not installed is left out."""
    x, y = sources()
    ours = CCA(DIRECTIONS, ridge=(1e-9, 1e-9))
    found = {
        "ours": {
            "seconds": fastest(lambda: ours.fit(x, y), turns),
            "correlation": reached(*ours.transform(x, y)),
        }
    }
    try:
        from sklearn.cross_decomposition import CCA as TheirCCA

        theirs = TheirCCA(DIRECTIONS, max_iter=2000)
        seconds = fastest(lambda: theirs.fit(x, y), max(1, turns // 2))
        left, right = theirs.transform(x, y)
        found["scikit-learn"] = {"seconds": seconds, "correlation": reached(left, right)}
    except ImportError:
        pass
    try:
        from cca_zoo.linear import CCA as ZooCCA
    except ImportError:
        return found
    zoo = ZooCCA(n_components=DIRECTIONS)
    seconds = fastest(lambda: zoo.fit([x, y]), turns)
    left, right = zoo.transform([x, y])
    found["cca-zoo"] = {"seconds": seconds, "correlation": reached(left, right)}
    return found


def compare_em(turns: int) -> dict[str, float]:
    """Time thirty steps of EM for three maps, beside as many of a Gaussian mixture."""
    random = np.random.default_rng(0)
    x, y = random.normal(size=(PAIRS, DIRECTIONS)), random.normal(size=(PAIRS, DIRECTIONS))
    mixture = LinearMixture(COMPONENTS, iterations=STEPS, start="random")
    found = {"ours_seconds": fastest(lambda: mixture.fit(x, y), turns)}
    try:
        from sklearn.mixture import GaussianMixture
    except ImportError:
        return found
    import warnings

    both = np.hstack([x, y])
    peer = GaussianMixture(
        COMPONENTS, max_iter=STEPS, tol=0.0, init_params="random", random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is told not to converge
        found["gaussian_mixture_seconds"] = fastest(lambda: peer.fit(both), turns)
    return found


def feature_rates(count: int, turns: int) -> dict[str, float]:
    """Return pictures of 64 x 64, and recordings of a third of a second, per second."""
    random = np.random.default_rng(0)
    pictures = list(random.integers(0, 256, (count, 64, 64, 3), dtype=np.uint8))
    kinds = {
        "autocorrelation_25": Autocorrelation(),
        "autocorrelation_35": Autocorrelation(num_masks=35),
        "colours": Colours(),
        "gradients": Gradients(),
        "frequencies": Frequencies(),
    }
    rates = {
        name: count / fastest(lambda f=feature: f.describe(pictures), turns)  # type: ignore[misc]
        for name, feature in kinds.items()
    }
    sounds = [Sound(random.normal(size=5000) * 0.1, 16_000) for _ in range(100)]
    seconds = fastest(lambda: [mel_cepstrum(sound) for sound in sounds], turns)
    return rates | {"cepstra": len(sounds) / seconds}


def teaching_times() -> dict[str, float]:
    """Return the processor seconds of 450 lessons, one lesson more, and naming a picture."""
    random = np.random.default_rng(0)
    blocks = render_blocks(5)
    order = random.permutation(len(blocks.images))
    shown, asked = order[:LESSONS], order[LESSONS : LESSONS + ANSWERS]
    written = [str(blocks.truth[n, random.integers(3)]) for n in shown]
    pictures = [blocks.images[n] for n in shown]
    found: dict[str, float] = {}
    for kind, words in (("written", written), ("spoken", [_spoken(w, random) for w in written])):
        learner = AttributeLearner()
        found[f"{kind}_seconds"] = fastest(lambda: learner.fit(pictures, words), 1)  # noqa: B023
        added = [
            fastest(lambda: learner.teach_one(blocks.images[n], words[0]), 1)  # noqa: B023
            for n in asked[:20]
        ]
        named = [fastest(lambda: learner.name(blocks.images[n]), 1) for n in asked]  # noqa: B023
        found[f"{kind}_one_more_seconds"] = float(np.median(added))
        found[f"{kind}_name_seconds"] = float(np.median(named))
    return found


def _spoken(word: str, random: np.random.Generator, rate: int = 16_000) -> Sound:
    tones = np.random.default_rng(list(word.encode())).uniform(300, 3000, 3)
    times = [np.arange(int(rate * random.uniform(0.06, 0.1))) / rate for _ in tones]
    pieces = [
        0.3 * np.sin(2 * np.pi * tone * random.uniform(0.97, 1.03) * time)
        for tone, time in zip(tones, times, strict=True)
    ]
    samples = np.concatenate(pieces)
    return Sound((samples + 0.01 * random.normal(size=len(samples))).astype(np.float32), rate)


def measure(*, quick: bool = False) -> dict[str, Any]:
    """Measure everything."""
    turns = 2 if quick else 5
    return {
        "cca": compare_cca(turns),
        "em": compare_em(turns),
        "features_per_second": feature_rates(128 if quick else 512, turns),
        "teaching": teaching_times(),
    }


def main() -> None:
    """Print the figures as text or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON only")
    parser.add_argument("--quick", action="store_true", help="fewer turns, rougher figures")
    arguments = parser.parse_args()
    figures = measure(quick=arguments.quick)
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, one in figures["cca"].items():
        print(f"CCA, {name}: {1000 * one['seconds']:.1f} ms, mean r {one['correlation']:.4f}")
    for name, seconds in figures["em"].items():
        print(f"{STEPS} steps of EM, {name.removesuffix('_seconds')}: {1000 * seconds:.1f} ms")
    for name, seconds in figures["teaching"].items():
        print(f"{LESSONS} lessons, {name.removesuffix('_seconds')}: {1000 * seconds:,.0f} ms")
    for name, rate in figures["features_per_second"].items():
        print(f"{name}: {rate:,.0f} per second")


if __name__ == "__main__":
    main()
