"""`Effects`: how strongly the picture differs from a clean drawing, one strength per effect."""

from dataclasses import dataclass, fields

from wordsight.worlds.errors import WorldError

__all__ = ["Effects"]

_BEST_CRF, _WORST_CRF = 20, 42
"""H.264 quality without visible loss, and quality at which small things dissolve into blocks."""


@dataclass(frozen=True)
class Effects:
    """Strengths from 0 (none) to 1 (strong).

    Attributes:
        texture: Grain of walls, ground and clothes.
        shading: Light and dark sides of things.
        shadow: Darkness of the shadows on the ground.
        grain: Sensor noise.
        blur: Motion blur, as the share of the frame time that the shutter is open.
        flicker: Exposure that wanders from frame to frame.
        compression: Loss in the encoder.
        occlusion: How much stands between the camera and the scene.
        shake: How far a hand-held camera wanders.

    Example:
        >>> Effects.at(0.0).grain
        0.0
        >>> Effects(grain=0.5).shake
        0.0
    """

    texture: float = 0.6
    shading: float = 0.6
    shadow: float = 0.6
    grain: float = 0.0
    blur: float = 0.0
    flicker: float = 0.0
    compression: float = 0.0
    occlusion: float = 0.0
    shake: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            strength = getattr(self, field.name)
            if not (isinstance(strength, int | float) and 0 <= strength <= 1):
                raise WorldError(f"{field.name} must lie between 0 and 1, got {strength!r}.")

    @classmethod
    def at(cls, noise: float) -> "Effects":
        """Set all strengths by one knob.

        What makes a picture rich (texture, shading, shadow) comes early on the scale, what spoils
        it (grain, blur, ...) grows evenly.
        """
        if not (isinstance(noise, int | float) and 0 <= noise <= 1):
            raise WorldError(f"noise must lie between 0 (clean) and 1 (strong), got {noise!r}.")
        noise = float(noise)
        rich = dict.fromkeys(("texture", "shading", "shadow"), noise**0.5)
        spoiling = ("grain", "blur", "flicker", "compression", "occlusion", "shake")
        return cls(**rich, **dict.fromkeys(spoiling, noise))

    @property
    def crf(self) -> int:
        """The encoder's quality number, 20 (clean) to 42 (strong loss)."""
        return round(_BEST_CRF + self.compression * (_WORST_CRF - _BEST_CRF))
