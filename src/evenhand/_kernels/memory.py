"""A hint to the processor that memory will be needed soon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numba
from llvmlite import ir
from numba.extending import intrinsic

from evenhand._kernels import kernel

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

# A read, to be kept in every cache, of data.
READ, KEPT, DATA = 0, 3, 1


def _prefetch(_: Any, array: Any, index: Any) -> Any:  # noqa: ANN401 - Numba's types
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401 - Numba's types
        begin = context.make_array(signature.args[0])(context, builder, values[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        address = builder.bitcast(builder.gep(begin, [values[1]]), byte)
        builder.call(hint, [address, number(READ), number(KEPT), number(DATA)])
        return context.get_dummy_value()

    return numba.types.void(array, index), generate


def _nothing(array: NDArray[Any], index: int) -> None:
    # Where kernels run as plain Python.
    pass


prefetch = cast(
    "Callable[[NDArray[Any], int], None]",
    _nothing if numba.config.DISABLE_JIT else intrinsic(_prefetch),  # type: ignore[attr-defined]  # made at import
)
"""Begin to fetch what stands at an index of an array; any index will do.

For use in kernels. Nothing waits for it, and nothing depends on it but time.
"""

# Numbers of 8 bytes that are fetched at once.
LINE = 8


@kernel
def prefetch_row(table: NDArray[np.float64], row: int) -> None:
    """Begin to fetch a row of a table."""
    width = table.shape[1]
    for column in range(0, width, LINE):
        prefetch(table, row * width + column)
