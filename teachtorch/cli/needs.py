"""What a script needs of torch, read from its syntax tree; nothing of the script is run.

A value is followed as far as its kind can be told: a module of torch, a tensor, a tuple of tensors, an instance of a
class of torch. What a function is given is unknown, unless annotated; an attribute of an unknown value is listed, as
uncertain, if among common types only tensors have it.
"""
import ast
import builtins
import io
import pathlib

import numpy as np

from teachtorch.cli import names

TENSOR, TENSORS, OTHER, UNKNOWN = "tensor", "tuple of tensors", "of another package", "unknown"

# Functions and methods that return no tensor.
OTHER_RESULTS = frozenset("""
    item tolist numpy size dim ndimension numel nelement stride storage_offset element_size data_ptr get_device
    is_contiguous is_floating_point is_complex is_signed is_pinned is_tensor is_grad_enabled backward requires_grad
    register_hook retain_grad equal allclose manual_seed seed initial_seed save load device dtype type finfo iinfo
    set_default_dtype get_default_dtype set_num_threads get_num_threads no_grad enable_grad inference_mode
    is_available storage untyped_storage result_type promote_types can_cast Size typename get_rng_state shape
    use_deterministic_algorithms compile vmap set_printoptions is_same_size broadcast_shapes
""".split())
SEVERAL_RESULTS = frozenset("""
    split chunk unbind tensor_split meshgrid broadcast_tensors sort topk kthvalue mode cummax cummin unsafe_split
    split_with_sizes slogdet qr svd eigh aminmax std_mean var_mean frexp hsplit vsplit dsplit
""".split())
WITH_DIM_SEVERAL = frozenset(["max", "min", "median", "nanmedian"])
TENSOR_ATTRIBUTES = frozenset("T mT H mH data grad real imag".split())
FUNCTION_SPACES = ("torch", "torch.nn.functional", "torch.special", "torch.linalg", "torch.fft")
GUARDS = ("is_available", "hasattr")


# Whose attributes a value of unknown kind may have as well.
COMMON_TYPES = (str, bytes, list, tuple, dict, set, slice, int, float, complex, io.TextIOBase, pathlib.Path, np.ndarray)


def only_tensors_have(attribute):
    """Whether a value with this attribute is probably a tensor of PyTorch."""
    return attribute in names.pytorch_names()["torch.Tensor"] and not any(
        hasattr(kind, attribute) for kind in COMMON_TYPES)


class Need:
    """One use of a name of torch in a script."""

    def __init__(self, name, line, guarded, certain=True):
        self.name = name            # in full, such as "torch.nn.Linear"; methods as "torch.Tensor.view"
        self.line = line
        self.guarded = guarded      # only reached where the script has asked first
        self.certain = certain      # False: an attribute of something that may be a tensor


class Reader(ast.NodeVisitor):
    """Walks a script from top to bottom and notes the names it uses.

    `scopes`: dicts from a variable to its kind: ("name", dotted name), ("instance", class name),
    TENSOR, TENSORS, or OTHER: something of another package.
    """

    def __init__(self):
        self.needs = []
        self.packages = {}                  # other packages that build on torch -> first line
        self.scopes = [{}]
        self.fields = {}                    # attributes of self, in the class being read
        self.guards = 0
        self.told = {}                      # id of a node -> its kind

    # ---- names ------------------------------------------------------------------------------------------------

    def note(self, name, node):
        if name != "torch":
            self.needs.append(Need(name, node.lineno, self.guards > 0))

    def look_up(self, variable):
        for scope in reversed(self.scopes):
            if variable in scope:
                return scope[variable]
        return UNKNOWN

    def visit_Import(self, node):
        for alias in node.names:
            top = alias.name.partition(".")[0]
            if top == "torch":
                self.note(alias.name, node)
                self.scopes[-1][alias.asname or "torch"] = ("name", alias.name if alias.asname else "torch")
            else:
                self.note_package(top, node)
                self.scopes[-1][alias.asname or top] = OTHER

    def visit_ImportFrom(self, node):
        module = node.module or ""
        if node.level or module.partition(".")[0] != "torch":
            self.note_package(module.partition(".")[0], node)
            self.scopes[-1].update({alias.asname or alias.name: OTHER for alias in node.names})
            return
        for alias in node.names:
            if alias.name == "*":
                self.note(module, node)
                self.bind_all(module)
                continue
            self.note(f"{module}.{alias.name}", node)
            self.scopes[-1][alias.asname or alias.name] = ("name", f"{module}.{alias.name}")

    def bind_all(self, module):
        """`from torch.nn import *`: the names that PyTorch has there."""
        for name in names.pytorch_names().get(module, ()):
            self.scopes[-1].setdefault(name, ("name", f"{module}.{name}"))

    def note_package(self, name, node):
        if name.startswith(("torch", "pytorch_", "lightning")) and name != "torch":
            self.packages.setdefault(name, node.lineno)

    # ---- expressions: visit notes the names in them, kind_of says what they are ----------------------------------

    def kind_of(self, node):
        """Visit an expression and return its kind."""
        self.visit(node)
        return self.told.get(id(node), UNKNOWN)

    def tell(self, node, kind):
        self.told[id(node)] = kind

    def visit_Name(self, node):
        self.tell(node, self.look_up(node.id))

    def visit_Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            self.tell(node, self.fields.get(node.attr, UNKNOWN))
            return
        owner = self.kind_of(node.value)
        if owner == TENSOR:
            self.note(f"torch.Tensor.{node.attr}", node)
            self.tell(node, TENSOR if node.attr in TENSOR_ATTRIBUTES else ("method", node.attr))
        elif isinstance(owner, tuple) and owner[0] == "name":
            self.note_attribute(node, owner[1])
        elif isinstance(owner, tuple) and owner[0] == "instance":
            self.tell(node, ("method of", owner[1]))
        elif owner == OTHER:
            self.tell(node, OTHER)
        elif owner == UNKNOWN and only_tensors_have(node.attr):
            name = f"torch.Tensor.{node.attr}"
            self.needs.append(Need(name, node.lineno, self.guards > 0, certain=False))

    def note_attribute(self, node, owner):
        """An attribute of a module or class of torch; what an object of unknown kind holds is not asked."""
        name = f"{owner}.{node.attr}"
        known = names.pytorch_names()
        if owner in known or owner == "torch" or names.is_pytorchs(owner) is not True:
            self.note(name, node)
        self.tell(node, ("name", name))

    def visit_Call(self, node):
        called = self.kind_of(node.func)
        for argument in [*node.args, *node.keywords]:
            self.visit(argument)
        self.tell(node, self.result_of(called, node))

    def result_of(self, called, node):
        if not isinstance(called, tuple):
            return OTHER if called == OTHER else UNKNOWN
        how, name = called
        if how == "method":
            return self.result_of_function(name, bool(node.args or node.keywords))
        if how == "instance":
            return TENSOR if is_module_class(name) else UNKNOWN
        if how == "method of":
            return UNKNOWN
        space, _, last = name.rpartition(".")
        if is_class(name):
            return TENSOR if name in ("torch.Tensor", "torch.nn.Parameter") else ("instance", name)
        if space in FUNCTION_SPACES:
            return self.result_of_function(last, len(node.args) > 1 or bool(node.keywords))
        return UNKNOWN

    def result_of_function(self, name, has_options):
        if name in OTHER_RESULTS:
            return UNKNOWN
        if name in SEVERAL_RESULTS or name in WITH_DIM_SEVERAL and has_options:
            return TENSORS
        return TENSOR

    def visit_BinOp(self, node):
        kinds = self.kind_of(node.left), self.kind_of(node.right)
        self.tell(node, TENSOR if TENSOR in kinds else OTHER if OTHER in kinds else UNKNOWN)

    def visit_UnaryOp(self, node):
        kind = self.kind_of(node.operand)
        self.tell(node, TENSOR if kind == TENSOR and not isinstance(node.op, ast.Not) else UNKNOWN)

    def visit_Compare(self, node):
        kinds = [self.kind_of(operand) for operand in (node.left, *node.comparators)]
        self.tell(node, TENSOR if TENSOR in kinds else UNKNOWN)

    def visit_Subscript(self, node):
        kind = self.kind_of(node.value)
        self.visit(node.slice)
        self.tell(node, TENSOR if kind in (TENSOR, TENSORS) else OTHER if kind == OTHER else UNKNOWN)

    def visit_IfExp(self, node):
        kinds = [self.kind_of(part) for part in (node.body, node.orelse)]
        self.visit(node.test)
        self.tell(node, kinds[0] if kinds[0] == kinds[1] else UNKNOWN)

    # ---- statements -------------------------------------------------------------------------------------------

    def bind(self, target, kind):
        """Remember what was assigned to a variable, an attribute of self, or each of several."""
        if isinstance(target, ast.Name):
            self.scopes[-1][target.id] = kind
        elif isinstance(target, ast.Attribute):
            if isinstance(target.value, ast.Name) and target.value.id == "self":
                self.fields[target.attr] = kind
            else:
                self.visit(target)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self.bind(part, TENSOR if kind == TENSORS else UNKNOWN)
        else:
            self.visit(target)

    def visit_Assign(self, node):
        if isinstance(node.value, ast.Tuple) and all(same_length(t, node.value) for t in node.targets):
            for target in node.targets:
                for part, value in zip(target.elts, node.value.elts):
                    self.bind(part, self.kind_of(value))
            return
        kind = self.kind_of(node.value)
        for target in node.targets:
            self.bind(target, kind)

    def visit_AnnAssign(self, node):
        self.visit(node.annotation)
        kind = UNKNOWN if node.value is None else self.kind_of(node.value)
        self.bind(node.target, self.annotated(node.annotation) if kind == UNKNOWN else kind)

    def annotated(self, annotation):
        kind = UNKNOWN if annotation is None else self.kind_of(annotation)
        return TENSOR if kind == ("name", "torch.Tensor") else UNKNOWN

    def visit_AugAssign(self, node):
        self.visit(node.target)
        self.visit(node.value)

    def visit_For(self, node):
        kind = self.kind_of(node.iter)
        self.bind(node.target, TENSOR if kind in (TENSOR, TENSORS) else UNKNOWN)
        self.visit_all(node.body + node.orelse)

    def visit_With(self, node):
        for item in node.items:
            kind = self.kind_of(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, kind)
        self.visit_all(node.body)

    def visit_FunctionDef(self, node):
        self.visit_all(node.decorator_list)
        parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        self.visit_all([d for d in [*node.args.defaults, *node.args.kw_defaults] if d is not None])
        self.scopes.append({p.arg: self.annotated(p.annotation) for p in parameters})
        self.visit_all([node.returns] if node.returns is not None else [])
        self.visit_all(node.body)
        self.scopes.pop()
        self.scopes[-1].setdefault(node.name, UNKNOWN)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        self.scopes.append({p.arg: UNKNOWN for p in parameters})
        self.visit(node.body)
        self.scopes.pop()

    def visit_comprehension_like(self, node):
        self.scopes.append({})
        for part in node.generators:
            kind = self.kind_of(part.iter)
            self.bind(part.target, TENSOR if kind in (TENSOR, TENSORS) else UNKNOWN)
            self.visit_all(part.ifs)
        self.visit_all([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self.scopes.pop()

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_comprehension_like

    def visit_ClassDef(self, node):
        """The fields that __init__ sets are known to the methods, whatever their order."""
        self.visit_all(node.decorator_list + node.bases)
        before, self.fields = self.fields, {}
        self.scopes.append({})
        self.visit_all(sorted(node.body, key=lambda part: getattr(part, "name", "") != "__init__"))
        self.scopes.pop()
        self.fields = before
        self.scopes[-1][node.name] = UNKNOWN

    def visit_all(self, nodes):
        for node in nodes:
            self.visit(node)

    # ---- what is only reached if the script has asked -----------------------------------------------------------

    def visit_If(self, node):
        self.visit(node.test)
        asks = any(isinstance(part, (ast.Name, ast.Attribute)) and last_word(part) in GUARDS
                   for part in ast.walk(node.test))
        self.guarded(node.body, asks)
        self.visit_all(node.orelse)

    def visit_Try(self, node):
        self.guarded(node.body, any(catches_missing(handler) for handler in node.handlers))
        for handler in node.handlers:
            self.visit_all(handler.body)
        self.visit_all(node.orelse + node.finalbody)

    def guarded(self, body, asks):
        self.guards += asks
        self.visit_all(body)
        self.guards -= asks


def same_length(target, value):
    return isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) == len(value.elts) and not any(
        isinstance(part, ast.Starred) for part in [*target.elts, *value.elts])


def last_word(node):
    return node.attr if isinstance(node, ast.Attribute) else node.id


def catches_missing(handler):
    """Whether `except` catches the error of a missing name."""
    caught = handler.type
    kinds = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    wanted = (ImportError, AttributeError, ModuleNotFoundError, Exception, BaseException)
    return any(kind is None or isinstance(kind, ast.Name) and getattr(builtins, kind.id, None) in wanted
               for kind in kinds)


def is_class(name):
    """Whether the name is a class: as it is here, and by its spelling where it is missing."""
    found, missing = names.resolve(name)
    if missing is None:
        return isinstance(found, type)
    return name.rpartition(".")[2][:1].isupper()


def is_module_class(name):
    """Whether calling an instance gives a tensor: the modules of torch.nn, but recurrent ones and attention."""
    last = name.rpartition(".")[2]
    return name.startswith("torch.nn.") and not last.startswith(("RNN", "LSTM", "GRU", "Multihead", "Adaptive"))


def needs_of(source, filename="<script>"):
    """The Reader of a script's source text. SyntaxError if it is no Python."""
    reader = Reader()
    reader.visit(ast.parse(source, filename))
    return reader
