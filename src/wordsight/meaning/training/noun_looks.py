"""Learning what nouns look like from tracks without classes, and from nouns said of their clips.

Nothing says which track a noun refers to. Every track is drawn from a mixture: one Gaussian per
noun and several for everything else, all with one covariance. EM with constraints on the posterior
(Ganchev et al., JMLR 2010) learns it: within a clip, a noun that is said of it is expected to refer
to one track at least and two at most. Two priors come from roles: what a verb is done to comes near
what moves, and who does it moves and is tall at first.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.language import Lexicon, PartOfSpeech
from wordsight.meaning.model.noun_looks import (
    LookMixture,
    NounLooks,
    TrackLooks,
    log_densities,
    log_sum,
    look_blocks,
)
from wordsight.perception.regions.codebook import kmeans, nearest
from wordsight.records import Sentence

__all__ = ["LookSettings", "constrained_posterior", "learn_noun_looks"]

Array = NDArray[np.float64]

_LEAST_SPREAD = 1e-6
_LEAST_TRACKS = 10  # in all clips, to learn anything from
_LEAST_AXES, _TRACKS_PER_AXIS = 5, 8
_CLUSTERS = 24  # of tracks, from which EM starts
_TRACKS_PER_REST = 100  # that no noun refers to, for each of their Gaussians
_EARLY = 3  # iterations in which who does something is expected to move and to be tall
_PULL = 2.0  # tracks' worth of belief that what no noun refers to stays where clusters were
_MOST_TRACKS = 2.0  # tracks a noun is expected to refer to at most: a thing and its twin
_LOG_MOST = float(np.log(_MOST_TRACKS))
_LEAST_SLOPE = 0.05
_SECOND_STARTS = 4  # from what the first agree on; they differ in what no noun refers to
_EXACT = 1e-4  # change of log odds below which limits count as met


@dataclass(frozen=True)
class LookSettings:
    """How the looks of nouns are learned.

    Attributes:
        axes: Most principal axes of the rows of tracks.
        rest: Most Gaussians of what no noun refers to.
        starts: Number of first starts of EM; the posterior of the better half starts it again.
        iterations: Iterations of EM.
        heat: Power of the densities at first is one over this; it falls to 1.
        unsaid: Prior tracks per clip of a noun that is not said of it; 1.2 of one that is.
        insistence: Cost per track by which the expected count of a noun misses its limits.
        nearness: Weight of the prior that what a verb is done to comes near what moves.
        shrinkage: Share of the covariance that is taken from the variances of the start.
        min_visible: Tracks that are visible in a smaller share of the clip are left out.
    """

    axes: int = 120
    rest: int = 5
    starts: int = 12
    iterations: int = 25
    heat: float = 3.0
    unsaid: float = 0.3
    insistence: float = 20.0
    nearness: float = 15.0
    shrinkage: float = 0.5
    min_visible: float = 0.25


@dataclass(frozen=True)
class _Mentions:
    """What is said of each of F clips: ``(F, K)`` which nouns, and which of them have a role."""

    nouns: tuple[str, ...]
    said: NDArray[np.bool_]
    patient: NDArray[np.bool_]
    agents: NDArray[np.bool_]  # (K,) nouns that are usually who does it


@dataclass(frozen=True)
class _Tracks:
    """All training tracks.

    Attributes:
        clip: ``(N,)`` the clip of each.
        place: ``(N,)`` its number in the clip.
        counts: ``(F,)`` number of tracks of each clip.
        points: ``(N, d)`` what they look like.
        role: ``(N, K)`` prior log odds from roles.
        mover: ``(N,)`` log odds that it is who does something.
    """

    clip: NDArray[np.int64]
    place: NDArray[np.int64]
    counts: NDArray[np.int64]
    points: Array
    role: Array
    mover: Array


def learn_noun_looks(
    tracks: Sequence[TrackLooks],
    sentences: Sequence[Sequence[Sentence]],
    lexicon: Lexicon,
    *,
    settings: LookSettings | None = None,
    random_state: int = 0,
) -> NounLooks | None:
    """Learn what the nouns of sentences look like.

    Args:
        tracks: Per clip its tracks.
        sentences: Per clip the parsed sentences that are true of it.
        lexicon: The grammar.
        settings: Settings.
        random_state: Seed of the starts.

    Returns:
        The looks of nouns; None if there are no nouns or too few tracks to learn from.
    """
    chosen = settings or LookSettings()
    mentions = _mentions(sentences, lexicon)
    kept = [looks.visible >= chosen.min_visible for looks in tracks]
    count = int(sum(one.sum() for one in kept))
    if not mentions.nouns or count < _LEAST_TRACKS:
        return None
    blank = _space(np.concatenate([t.rows[k] for t, k in zip(tracks, kept, strict=True)]), chosen)
    blank = replace(blank, nouns=mentions.nouns)
    data = _gathered(tracks, kept, mentions, blank, chosen)
    rng = np.random.default_rng(random_state)
    starts = [_Start(data, mentions, chosen, rng) for _ in range(chosen.starts)]
    for start in starts:
        start.run()
    # Starts end with different nouns exchanged. What the better half agree on is a better start.
    starts.sort(key=lambda start: -start.history[-1])
    agreed = np.mean([start.posterior for start in starts[: -(-len(starts) // 2)]], axis=0)
    again = [_Start(data, mentions, chosen, rng, agreed) for _ in range(_SECOND_STARTS)]
    return replace(blank, mixtures=tuple(start.run() for start in again))


def _mentions(sentences: Sequence[Sequence[Sentence]], lexicon: Lexicon) -> _Mentions:
    parts = {entry.name: entry.part for entry in lexicon}
    rows: list[tuple[set[str], set[str]]] = []
    first, other = Counter[str](), Counter[str]()
    for several in sentences:
        said: set[str] = set()
        patients: set[str] = set()
        for sentence in several:
            words = [w for w in sentence.words if parts.get(w.entry) is PartOfSpeech.NOUN]
            noun = {word.participants[0]: word.entry for word in words}
            said |= set(noun.values())
            for word in sentence.words:
                if parts.get(word.entry) is not PartOfSpeech.VERB:
                    continue
                first.update(noun[p] for p in word.participants[:1] if p in noun)
                other.update(noun[p] for p in word.participants[1:] if p in noun)
                patients |= {noun[p] for p in word.participants[1:] if p in noun}
        rows.append((said, patients))
    nouns = tuple(sorted({noun for said, _ in rows for noun in said}))
    table = np.array([[[n in one for n in nouns] for one in row] for row in rows], dtype=bool)
    table = table.reshape(len(rows), 2, len(nouns))
    agents = np.array([first[noun] > other[noun] for noun in nouns], dtype=bool)
    return _Mentions(nouns, table[:, 0], table[:, 1] & ~agents, agents)


def _space(rows: Array, settings: LookSettings) -> NounLooks:
    """Return the space of the mixtures: every block of numbers has the same spread, then PCA."""
    centre, spread = rows.mean(axis=0), rows.std(axis=0)
    scale = np.where(spread > _LEAST_SPREAD, 1 / np.maximum(spread, _LEAST_SPREAD), 0.0)
    *looks, size, motion = look_blocks(rows.shape[1])
    for block in looks:
        scale[block] *= 3 / np.sqrt(block.stop - block.start)
    for block in (size, motion):
        scale[block] *= 2 / np.sqrt(block.stop - block.start)
    _, sizes, axes = np.linalg.svd((rows - centre) * scale, full_matrices=False)
    few = max(_LEAST_AXES, len(rows) // _TRACKS_PER_AXIS)
    most = min(settings.axes, few, int((sizes > 1e-6 * sizes[0]).sum()))
    return NounLooks((), centre, scale, axes[:most].T.copy(), ())


def _gathered(
    tracks: Sequence[TrackLooks],
    kept: Sequence[NDArray[np.bool_]],
    mentions: _Mentions,
    space: NounLooks,
    settings: LookSettings,
) -> _Tracks:
    points, role, mover = [], [], []
    for number, (looks, keep) in enumerate(zip(tracks, kept, strict=True)):
        if not keep.any():
            continue
        moves = 6 * looks.extent + 4 * np.minimum(looks.height, 0.4)
        moves = np.where(keep, moves, -np.inf)
        near = looks.nearness[int(moves.argmax())]
        points.append(space.points(looks.rows[keep]))
        role.append(settings.nearness * near[keep, None] * mentions.patient[number])
        mover.append(3 * (moves[keep] - moves.max()) + 1.5)
    counts = np.array([int(keep.sum()) for keep in kept])
    clip = np.repeat(np.arange(len(kept)), counts)
    place = np.concatenate([np.arange(count) for count in counts])
    parts = [np.concatenate(one) for one in (points, role, mover)]
    return _Tracks(clip, place, counts, parts[0], parts[1], parts[2])


class _Start:
    """One start of EM.

    Args:
        data: The tracks.
        mentions: What is said of their clips.
        settings: Settings.
        rng: Source of random numbers.
        posterior: ``(N, K + 1)`` probabilities to start from; from clusters if None.

    Attributes:
        posterior: ``(N, K + 1)`` the probability of each noun for each track, and of none.
        history: The objective after every iteration; once the densities have their full power and
            roles their lasting prior, it never falls.
    """

    def __init__(
        self,
        data: _Tracks,
        mentions: _Mentions,
        settings: LookSettings,
        rng: np.random.Generator,
        posterior: Array | None = None,
    ) -> None:
        self._data, self._mentions, self._settings = data, mentions, settings
        points = data.points
        clusters = kmeans(points, min(_CLUSTERS, len(points)), rng, restarts=1)
        self._clusters = nearest(points, clusters)[0]
        variances = ((points - clusters[self._clusters]) ** 2).mean(axis=0)
        self._variances = np.diag(variances + 1e-4)
        self._square = points.T @ points
        said = mentions.said[data.clip]
        self._weights = np.log(np.where(said, 1.2, settings.unsaid) / data.counts[data.clip, None])
        self._early, self._heat = data.role, 1.0
        if posterior is None:
            self._early = data.role + np.where(mentions.agents, data.mover[:, None], 0.0)
            self._heat = settings.heat
            posterior = self._expect(self._initial(), self._early)
        self.posterior = posterior
        # What no noun refers to begins at clusters of the tracks that are said least.
        unsaid = points[posterior[:, -1] > rng.random(len(points))]
        self._rest = kmeans(unsaid if len(unsaid) else points, self._num_rest(), rng, restarts=1)
        self.history: list[float] = []

    def _num_rest(self) -> int:
        """Return the number of Gaussians for what no noun refers to: more where there is more."""
        others = len(self._data.clip) - 1.2 * float(self._mentions.said.sum())
        return int(np.clip(round(others / _TRACKS_PER_REST), 1, self._settings.rest))

    def run(self) -> LookMixture:
        """Run all iterations and return the model."""
        settings, role, count = self._settings, self._data.role, len(self._mentions.nouns)
        posterior = self.posterior
        share = np.full(len(self._rest), 1 / len(self._rest))
        logs = log_densities(self._data.points, self._rest, self._variances)
        for step in range(settings.iterations):
            mixture = self._maximise(posterior, logs + np.log(share))
            share = mixture.shares
            centres = np.concatenate([mixture.means, mixture.rest])
            every = log_densities(self._data.points, centres, mixture.covariance)
            nouns, logs = every[:, :count], every[:, count:]
            other = log_sum(logs + np.log(share))[:, None]
            heat = float(np.interp(step, [0, 0.7 * settings.iterations], [self._heat, 1.0]))
            prior = self._early if step < _EARLY else role
            posterior = self._expect((nouns - other) / heat, prior)
            densities = np.concatenate([nouns + self._weights + prior, other], axis=1)
            self.history.append(self._objective(mixture, posterior, densities))
        prior = np.log((posterior.sum(axis=0) + 1e-3) / len(posterior))
        self.posterior = posterior
        return replace(mixture, prior=prior)

    def _expect(self, ratios: Array, role: Array) -> Array:
        """E-step: return ``(N, K + 1)`` probabilities of the noun of each track, or of none."""
        data = self._data
        logs = np.full((len(data.counts), int(data.counts.max()), ratios.shape[1]), -np.inf)
        logs[data.clip, data.place] = ratios + role + self._weights
        found = constrained_posterior(logs, self._mentions.said, self._settings.insistence)
        return np.asarray(found[data.clip, data.place])

    def _initial(self) -> Array:
        """Return log odds ratios that a noun is said where tracks of a cluster are seen."""
        said = self._mentions.said.astype(float)
        has = np.zeros((len(said), int(self._clusters.max()) + 1))
        has[self._data.clip, self._clusters] = 1.0
        both, only = has.T @ said + 0.5, has.T @ (1 - said) + 0.5
        without, neither = (1 - has).T @ said + 0.5, (1 - has).T @ (1 - said) + 0.5
        odds = np.log(both * neither / (only * without))[self._clusters]
        return np.asarray(np.where(self._mentions.agents, 0.0, odds))

    def _maximise(self, posterior: Array, rest_logs: Array) -> LookMixture:
        """M-step: weighted means, and a covariance that is shrunk to the initial variances."""
        points = self._data.points
        parts = np.exp(rest_logs - log_sum(rest_logs)[:, None]) * posterior[:, -1:]
        weights = np.concatenate([posterior[:, :-1], parts], axis=1)
        sums, counts = weights.T @ points, weights.sum(axis=0)
        pulled = np.where(np.arange(len(counts)) < len(counts) - len(self._rest), 0.0, _PULL)
        target = np.zeros_like(sums)
        target[-len(self._rest) :] = self._rest
        centres = (sums + pulled[:, None] * target) / np.maximum(counts + pulled, 1e-9)[:, None]
        moved = centres - target
        # Scatter of all points around the centres, as the weights of a point sum to 1.
        spread = self._square - sums.T @ centres - centres.T @ sums
        spread += (centres * counts[:, None]).T @ centres + (moved * pulled[:, None]).T @ moved
        share = self._settings.shrinkage
        covariance = (1 - share) * spread / len(points) + share * self._variances
        shares = (parts.sum(axis=0) + 1) / (parts.sum() + parts.shape[1])
        nouns = len(self._mentions.nouns)
        return LookMixture(centres[:nouns], centres[nouns:], shares, covariance, np.zeros(0))

    def _objective(self, mixture: LookMixture, posterior: Array, densities: Array) -> float:
        """Return the penalised lower bound of the log likelihood that both steps raise."""
        bound = float((posterior * (densities - np.log(np.maximum(posterior, 1e-300)))).sum())
        inverse = np.linalg.inv(mixture.covariance)
        moved = mixture.rest - self._rest
        pull = -0.5 * _PULL * float(((moved @ inverse) * moved).sum())
        # The prior of the covariance whose maximum is the mixture of both that is used.
        share = self._settings.shrinkage
        strength = len(posterior) * share / (1 - share)
        determinant = float(np.linalg.slogdet(mixture.covariance)[1])
        shrunk = -0.5 * strength * (determinant + float((inverse * self._variances).sum()))
        total = np.zeros(self._mentions.said.shape)
        np.add.at(total, self._data.clip, posterior[:, :-1])
        cost = limit_cost(total, self._mentions.said, self._settings.insistence)
        return bound - cost + pull + shrunk + float(np.log(mixture.shares).sum())


def constrained_posterior(
    logs: Array, said: NDArray[np.bool_], insistence: float, *, rounds: int = 30
) -> Array:
    """Return the distributions nearest to posteriors that respect expected counts of their clips.

    Args:
        logs: ``(F, N, K)`` log odds of each noun, for each track of each clip, against no noun;
            minus infinity where a clip has fewer tracks.
        said: ``(F, K)`` which nouns are said of each clip.
        insistence: Cost per track by which a count misses its limits.
        rounds: Most rounds over the limits.

    Returns:
        ``(F, N, K + 1)`` probabilities, last that of no noun. They minimise the divergence from
        the posterior plus the cost of missed limits: a noun that is said refers to at least one
        track in expectation, every noun to at most two.
    """
    odds = np.exp(np.clip(logs, -600.0, 600.0))
    odds[np.isneginf(logs)] = 0.0
    shift = np.zeros((len(logs), logs.shape[2]))
    for _ in range(rounds):
        found = odds * np.exp(shift)[:, None]
        found /= 1.0 + found.sum(axis=2, keepdims=True)
        total = np.maximum(found.sum(axis=1), 1e-300)
        # Multipliers of the limits make Newton steps on the log of each count towards equality,
        # as far as the cost allows; where probabilities saturate the slope is nearly zero.
        slope = np.maximum(1.0 - (found**2).sum(axis=1) / total, _LEAST_SLOPE)
        missing, excess = -np.log(total) / slope, (_LOG_MOST - np.log(total)) / slope
        low = np.where(said, np.clip(shift + np.clip(missing, -1, 1), 0.0, insistence), 0.0)
        target = low + np.clip(shift + np.clip(excess, -1, 1), -insistence, 0.0)
        step = np.abs(target - shift).max(initial=0.0)
        shift = target
        if step < _EXACT:
            break
    return np.concatenate([found, 1.0 - found.sum(axis=2, keepdims=True)], axis=2)


def limit_cost(total: Array, said: NDArray[np.bool_], insistence: float) -> float:
    """Return the cost of ``(F, K)`` expected counts outside their limits."""
    missing = np.where(said, np.maximum(1.0 - total, 0.0), 0.0)
    return insistence * float((missing + np.maximum(total - _MOST_TRACKS, 0.0)).sum())
