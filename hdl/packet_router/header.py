"""The header word of a message: the one place where its bits are written.

::

     31  29   28   27        16 15     12 11                    0
    +------+-----+------------+---------+-----------------------+
    | tag  | any |   source   | address | destination x, y, z   |
    +------+-----+------------+---------+-----------------------+

The router reads ``destination`` (coordinates, x lowest, each as wide as its dimension needs), ``address`` and ``any``
(shortest way of its choice; otherwise dimension order, on which messages of one pair of nodes stay in order). ``source`` and
``tag`` are for the reader.
"""

from __future__ import annotations

from .shape import COORDINATE_BITS, RouterShape

ADDRESS = COORDINATE_BITS
SOURCE = 16
ANY = 28
TAG = 29
TAGS = 8


def pack_header(
    shape: RouterShape, destination: int, address: int, *, source: int = 0, any_way: bool = False, tag: int = 0
) -> int:
    """Header word of a message to ``address`` of node ``destination``.

    Raises
    ------
    ValueError
        If there is no such node, address or tag.
    """
    for name, value in (("destination", destination), ("source", source)):
        if not 0 <= value < shape.nodes:
            raise ValueError(f"{name} must be a node 0 to {shape.nodes - 1}, not {value}")
    if not 1 <= address < shape.addresses:
        raise ValueError(f"interface address must be 1 to {shape.addresses - 1}, not {address}")
    if not 0 <= tag < TAGS:
        raise ValueError(f"tag must be 0 to {TAGS - 1}, not {tag}")
    place = shape.pack(shape.place(destination))
    return place | address << ADDRESS | source << SOURCE | int(any_way) << ANY | tag << TAG


def source_of(header: int) -> int:
    """Node that sent the message."""
    return header >> SOURCE & 0xFFF


def tag_of(header: int) -> int:
    return header >> TAG & TAGS - 1
