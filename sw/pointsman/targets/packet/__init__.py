"""Program -> messages between packet routers: how each operator is done, and at which interface addresses its messages arrive.

``arrivals`` says which messages may be under way to a node at the same time, ``addresses`` numbers them,
``program`` puts both together.
"""

from .program import PacketOperator, PacketProgram, make_packet_program, without_links

__all__ = ["PacketOperator", "PacketProgram", "make_packet_program", "without_links"]
