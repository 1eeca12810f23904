"""Small matrix products for the compiled lattice.

A step of a track multiplies a few dozen rows by a matrix of a few detections. At that size a call
to BLAS spends more time arriving than multiplying: for eight detections this is more than twice as
fast, for four, four times, and up to fifty detections never slower. It also starts no threads of
its own, so results do not depend on how many there are.

Imports numba; see :mod:`wordsight.inference.lattice.kernels.recursions`.
"""

from typing import Any

import numba.core
from llvmlite import ir
from numba import njit
from numba.extending import intrinsic

from wordsight.inference.numba_support import INNER_OPTIONS

__all__ = ["matrix_times_rows", "rows_times_matrix", "scale_rows", "sum_rows"]

cgutils: Any = numba.core.cgutils
types: Any = numba.core.types

# Rows of a block. Four of eight numbers fill half the registers of a processor with vectors of
# four, and all the pipelines of one with vectors of eight.
_HIGH = 4
# Products may be fused with sums, as in all other loops of the kernel.
_FUSED = ("contract",)


def _block_of(high: int, wide: int, deep: int = 0) -> Any:
    """Return a function that computes a block of a product of two matrices.

    It takes three times an array, where the matrix begins in it and how far it is to the next row:
    of the target, of the left and of the right matrix; for the left also how far it is to the next
    column; and last how many products to sum. No bounds are checked.

    Args:
        high: Rows of the block.
        wide: Columns of the block.
        deep: How many products are summed if that is always the same: no loop is needed then.
    """

    def _block(
        typing_context: Any,
        target: Any,
        target_at: Any,
        target_row: Any,
        left: Any,
        left_at: Any,
        left_row: Any,
        left_column: Any,
        right: Any,
        right_at: Any,
        right_row: Any,
        depth: Any,
    ) -> Any:
        taken = [target, target_at, target_row, left, left_at, left_row, left_column]
        taken += [right, right_at, right_row, depth]
        return types.void(*taken), _code_of_block(high, wide, deep)

    return intrinsic(_block)


def _code_of_block(high: int, wide: int, deep: int) -> Any:
    vector = ir.VectorType(ir.DoubleType(), wide)
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), wide), [0] * wide)
    nothing = ir.Constant(vector, ir.Undefined)

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def begin(array: int, at: int) -> Any:
            made = context.make_array(signature.args[array])
            return builder.gep(made(context, builder, arguments[array]).data, [arguments[at]])

        def moved(pointer: Any, times: Any, stride: int) -> Any:
            return builder.gep(pointer, [builder.mul(times, arguments[stride])])

        def row_of(pointer: Any) -> Any:
            return builder.bitcast(pointer, vector.as_pointer())

        def add(place: Any) -> None:
            factors = builder.load(row_of(moved(right, place, 9)), align=8)
            column = moved(left, place, 6)
            for row, total in zip(rows, sums, strict=True):
                number = builder.load(moved(column, row, 5))
                first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
                spread = builder.shuffle_vector(first, nothing, everywhere)
                product = builder.fmul(spread, factors, flags=_FUSED)
                builder.store(builder.fadd(builder.load(total), product, flags=_FUSED), total)

        target, left, right, depth = begin(0, 1), begin(3, 4), begin(7, 8), arguments[10]
        rows = [ir.Constant(depth.type, row) for row in range(high)]
        # The compiler keeps these in registers.
        zero = ir.Constant(vector, [0.0] * wide)
        sums = [cgutils.alloca_once_value(builder, zero) for _ in rows]
        if deep:
            for place in range(deep):
                add(ir.Constant(depth.type, place))
        else:
            with cgutils.for_range(builder, depth) as loop:
                add(loop.index)
        for row, total in zip(rows, sums, strict=True):
            builder.store(builder.load(total), row_of(moved(target, row, 2)), align=8)
        return context.get_dummy_value()

    return code


_four = _block_of(_HIGH, 4)
_eight = _block_of(_HIGH, 8)
_row_of_four = _block_of(1, 4)
_row_of_eight = _block_of(1, 8)
# Eight detections fill whole vectors, which is worth a block without a loop.
_eight_deep = _block_of(_HIGH, 8, 8)
_row_eight_deep = _block_of(1, 8, 8)
_four_times_one = _block_of(1, 4, 1)
_eight_times_one = _block_of(1, 8, 1)


@njit(**INNER_OPTIONS)
def rows_times_matrix(  # type: ignore[no-untyped-def]
    target, target_at, source, source_at, rows, matrices, place, count
):
    """Multiply (rows, count) of the source by the matrix (count, count) at ``place``."""
    whole = rows // _HIGH * _HIGH
    if count == 8:
        for i in range(0, whole, _HIGH):
            new, old = target_at + 8 * i, source_at + 8 * i
            _eight_deep(target, new, 8, source, old, 8, 1, matrices, place, 8, 8)
        for i in range(whole, rows):
            new, old = target_at + 8 * i, source_at + 8 * i
            _row_eight_deep(target, new, 8, source, old, 8, 1, matrices, place, 8, 8)
        return
    if count < 4:
        _few(target, target_at, source, source_at, count, 1, matrices, place, rows, count)
        return
    wide = 8 if count > 8 else 4
    # The last block of a row overlaps the one before and writes the same numbers once more.
    for k in range(0, count, wide):
        column = min(k, count - wide)
        new, of = target_at + column, place + column
        for i in range(0, whole * count, _HIGH * count):
            old = source_at + i
            if wide == 8:
                _eight(target, new + i, count, source, old, count, 1, matrices, of, count, count)
            else:
                _four(target, new + i, count, source, old, count, 1, matrices, of, count, count)
        for i in range(whole * count, rows * count, count):
            old = source_at + i
            if wide == 8:
                _row_of_eight(
                    target, new + i, count, source, old, count, 1, matrices, of, count, count
                )
            else:
                _row_of_four(
                    target, new + i, count, source, old, count, 1, matrices, of, count, count
                )


@njit(**INNER_OPTIONS)
def matrix_times_rows(  # type: ignore[no-untyped-def]
    target, target_at, source, source_at, blocks, inner, matrices, place, count
):
    """Multiply the matrix at ``place``, turned, by each of ``blocks`` (count, inner) of the source.

    ``inner`` is at least ``count``.
    """
    wide = 8 if inner >= 8 else 4
    for block in range(0, blocks * count * inner, count * inner):
        new, old = target_at + block, source_at + block
        if count < 4:
            _few(target, new, matrices, place, 1, count, source, old, count, inner)
            continue
        # The last blocks overlap those before them and write the same numbers once more.
        for k in range(0, inner, wide):
            column = min(k, inner - wide)
            first = old + column
            for i in range(0, count, _HIGH):
                row = min(i, count - _HIGH)
                to, of = new + column + row * inner, place + row
                if count == 8:
                    _eight_deep(target, to, inner, matrices, of, 1, 8, source, first, inner, 8)
                elif wide == 8:
                    _eight(target, to, inner, matrices, of, 1, count, source, first, inner, count)
                else:
                    _four(target, to, inner, matrices, of, 1, count, source, first, inner, count)


@njit(**INNER_OPTIONS)
def sum_rows(target, target_at, source, source_at, rows, columns, one):  # type: ignore[no-untyped-def]
    """Sum (rows, columns) of the source over the rows; ``one`` is an array whose first is 1."""
    if columns < 4:
        for k in range(columns):
            total = 0.0
            for i in range(rows):
                total += source[source_at + i * columns + k]
            target[target_at + k] = total
        return
    wide = 8 if columns >= 8 else 4
    for k in range(0, columns, wide):
        column = min(k, columns - wide)
        new, old = target_at + column, source_at + column
        # A row that is 1 everywhere, times the source.
        if wide == 8:
            _row_of_eight(target, new, columns, one, 0, 0, 0, source, old, columns, rows)
        else:
            _row_of_four(target, new, columns, one, 0, 0, 0, source, old, columns, rows)


@njit(**INNER_OPTIONS)
def scale_rows(target, source, numbers, places, count):  # type: ignore[no-untyped-def]
    """Multiply each row of ``count`` by the number whose place the row's first names."""
    if count < 4:
        for x in range(len(target)):
            target[x] = source[x] * numbers[places[x]]
        return
    wide = 8 if count >= 8 else 4
    for row in range(0, len(target), count):
        number = places[row]
        for k in range(0, count, wide):
            at = row + min(k, count - wide)
            if wide == 8:
                _eight_times_one(target, at, 0, numbers, number, 0, 0, source, at, 0, 1)
            else:
                _four_times_one(target, at, 0, numbers, number, 0, 0, source, at, 0, 1)


@njit(**INNER_OPTIONS)
def _few(  # type: ignore[no-untyped-def]
    target, target_at, left, left_at, left_row, left_column, right, right_at, rows, columns
):
    """Multiply by a matrix that is smaller than any block."""
    depth = max(left_row, left_column)  # the other is one
    for i in range(rows):
        for k in range(columns):
            total = 0.0
            for j in range(depth):
                factor = left[left_at + i * left_row + j * left_column]
                total += factor * right[right_at + j * columns + k]
            target[target_at + i * columns + k] = total
