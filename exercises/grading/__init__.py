"""What the test files of exercises are written with."""

from exercises.grading.compare import Mismatch, close, equal, holds, raises
from exercises.grading.declare import points
from exercises.grading.pictures import beside, ruler, strip

__all__ = ["Mismatch", "beside", "close", "equal", "holds", "points", "raises", "ruler", "strip"]
