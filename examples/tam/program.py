"""TAM programs as an application, so that `pointsman show`, `compare` and `sweep` can run them.

pointsman show examples/tam/program.py --target logp --mesh 4x2 --file simple.fun --values "4 2"
pointsman run examples/tam/program.py --target packet --mesh 2x2 --file fib.tam --values 6
"""

from pathlib import Path

from pointsman.errors import PointsmanError
from pointsman.runtime.tam import TamApplication, assemble
from pointsman.runtime.tam.functional import THREADS, compile_functional

HERE = Path(__file__).parent


class Program(TamApplication):
    @classmethod
    def options(cls, parser):
        parser.add_argument("--file", default="fib.tam", help="a program of this folder")
        parser.add_argument("--values", default="6", help="arguments of its code-block main, with spaces between them")
        parser.add_argument("--threads", choices=THREADS, default="partitions", help="of a functional program")

    def __init__(self, options, topology):
        path = HERE / options.file
        if not path.is_file():
            raise PointsmanError(f"there is no TAM program {path}")
        text = path.read_text()
        if path.suffix == ".fun":
            text = compile_functional(text, str(path), options.threads)
        super().__init__(assemble(text, str(path)), [int(one) for one in options.values.split()], topology)
