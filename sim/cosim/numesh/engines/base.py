"""Interface of all engines of the mesh."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from cosim.engines.processors import Outcome, Program, RunOptions
from cosim.record import State
from numesh.codes import Codes
from numesh.memories import NodeMemories
from numesh.shape import NodeShape
from pointsman.network import Topology


class Engine(ABC):
    """Simulates a mesh of nodes and runs programs on its processor ports.

    Parameters
    ----------
    shape : NodeShape
        Sizes of every node.
    topology : Topology
        The links.
    """

    name: str

    def __init__(self, shape: NodeShape, topology: Topology) -> None:
        self.shape = shape
        self.topology = topology
        self.nodes = topology.nodes
        self.codes = Codes(shape)

    @property
    @abstractmethod
    def time(self) -> int:
        """Cycles since reset was released."""

    @abstractmethod
    def preload(self, memories: Sequence[NodeMemories]) -> None:
        """Set the memories of all nodes, without the hardware's help."""

    @abstractmethod
    def memories(self) -> list[NodeMemories]:
        """Contents of the memories of all nodes."""

    @abstractmethod
    def state(self) -> State:
        """Registers and memories of all nodes; engines may leave some out, but not change a name.

        ========================== =============================== =====================================================
        name                       shape after the node            meaning
        ========================== =============================== =====================================================
        entry_vfsm, entry_next     pipelines; -                    schedule entry that was read
        pointer_kind, pointer      -                               pending command and its value
        read_vfsm, read_annotation pipelines                       read stage
        write_valid, …             pipelines                       write stage: _word, _vfsm, _type, _destination,
                                                                   _forked, _from_buffer
        held, buffer               pipelines, VFSMs                buffers: full or not, word
        full, register             registers                       interface registers: full or not, word that a pipeline
                                                                   would take first
        places, words              writers, registers              their places, the processor's first: full or not, word
        read_idle                  pipelines                       the turn in the read stage is idle
        collected                  pipelines                       words of a command so far
        read_data                  -                               last word that the processor read
        schedule                   depth                           packed
        annotation                 pipelines, VFSMs                packed
        ========================== =============================== =====================================================
        """

    @abstractmethod
    def run(self, programs: Sequence[Program | None], options: RunOptions) -> Outcome:
        """Run the programs to their ends."""

    def close(self) -> None:
        """Free the engine's resources. It cannot be used afterwards."""
        return
