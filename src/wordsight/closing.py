"""`Closing`: what is closed at the end of a ``with`` block."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

__all__ = ["Closing"]


class Closing(ABC):
    """Something that holds files, processes or connections until it is closed."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything; a second time does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
