// The Python side of a verilated mesh: module "pointsman_mesh" with one class, `Mesh`.
#include <cstring>
#include <new>
#include <string>

#include "run.h"

namespace {

Vocabulary vocabulary;

struct MeshObject {
    PyObject_HEAD
    Mesh* mesh;
    bool running;
};

// -- the class ------------------------------------------------------------------------------------------------------

// Mesh(nodes, [(node, input, other node or -1, output, constant), ...])
PyObject* mesh_new(PyTypeObject* type, PyObject* arguments, PyObject*) {
    unsigned nodes;
    PyObject* rows;
    if (!PyArg_ParseTuple(arguments, "IO!", &nodes, &PyList_Type, &rows)) return nullptr;
    std::vector<Mesh::Joint> joints(PyList_GET_SIZE(rows));
    for (std::size_t k = 0; k < joints.size(); ++k) {
        unsigned long long value;
        Mesh::Joint& joint = joints[k];
        if (!PyArg_ParseTuple(PyList_GET_ITEM(rows, k), "IIlIK", &joint.node, &joint.input, &joint.from, &joint.output,
                              &value))
            return nullptr;
        joint.value = value;
    }
    auto* const self = reinterpret_cast<MeshObject*>(type->tp_alloc(type, 0));
    if (!self) return nullptr;
    try {
        self->mesh = new Mesh{nodes, joints};
    } catch (const std::bad_alloc&) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_ValueError, error.what());
        Py_DECREF(self);
        return nullptr;
    }
    return reinterpret_cast<PyObject*>(self);
}

void mesh_dealloc(MeshObject* self) {
    delete self->mesh;
    PyTypeObject* const type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject* mesh_time(MeshObject* self, void*) { return PyLong_FromLongLong(self->mesh->time()); }

bool known_node(const MeshObject* self, unsigned node) {
    if (node < self->mesh->nodes()) return true;
    PyErr_Format(PyExc_IndexError, "node must be 0 to %d, not %u", self->mesh->nodes() - 1, node);
    return false;
}

bool known_register(unsigned reg) {
    if (reg < REGISTERS) return true;
    PyErr_Format(PyExc_IndexError, "register must be 0 to %d, not %u", REGISTERS - 1, reg);
    return false;
}

PyObject* mesh_full(MeshObject* self, PyObject* argument) {
    const unsigned long node = PyLong_AsUnsignedLong(argument);
    if (PyErr_Occurred() || !known_node(self, node)) return nullptr;
    return self->mesh->write_flags(node);
}

PyObject* mesh_available(MeshObject* self, PyObject* argument) {
    const unsigned long node = PyLong_AsUnsignedLong(argument);
    if (PyErr_Occurred() || !known_node(self, node)) return nullptr;
    return self->mesh->read_flags(node);
}

// Lets one cycle pass; false with an exception set if the hardware is not what was said.
bool pass(Mesh& mesh) {
    try {
        mesh.tick(true);
    } catch (const DescriptionError& error) {
        PyErr_SetString(PyExc_ValueError, error.what());
        return false;
    }
    return true;
}

// clock([(node, register, write, word), ...]) -> [word read or None, ...]
PyObject* mesh_clock(MeshObject* self, PyObject* accesses) {
    if (!PyList_Check(accesses)) return PyErr_Format(PyExc_TypeError, "accesses must be a list");
    const Py_ssize_t count = PyList_GET_SIZE(accesses);
    std::vector<std::pair<unsigned, int>> made;
    bool ok = true;
    for (Py_ssize_t k = 0; ok && k < count; ++k) {
        unsigned node, reg;
        int write;
        unsigned long long word;
        ok = PyArg_ParseTuple(PyList_GET_ITEM(accesses, k), "IIpK", &node, &reg, &write, &word) &&
             known_node(self, node) && known_register(reg);
        if (!ok) break;
        if (write)
            self->mesh->write(node, reg, word);
        else
            self->mesh->read(node, reg);
        made.emplace_back(node, write);
    }
    ok = ok && pass(*self->mesh);
    PyObject* const words = ok ? PyList_New(count) : nullptr;
    for (std::size_t k = 0; k < made.size(); ++k) {
        const auto [node, write] = made[k];
        self->mesh->idle(node);
        if (words)
            PyList_SET_ITEM(words, k,
                            write ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(self->mesh->read_data(node)));
    }
    return words;
}

PyObject* mesh_names(MeshObject*, PyObject*) { return PyUnicode_FromString(Mesh::names()); }

PyObject* mesh_top_names(MeshObject*, PyObject*) { return PyUnicode_FromString(Mesh::top_names()); }

// peek("name") -> one value, or one list for a memory, per node
PyObject* mesh_peek(MeshObject* self, PyObject* argument) {
    const char* const wanted = PyUnicode_AsUTF8(argument);
    if (!wanted) return nullptr;
    PyObject* const values = PyList_New(self->mesh->nodes());
    for (unsigned node = 0; values && node < self->mesh->nodes(); ++node) {
        PyObject* const value = self->mesh->peek(node, wanted);
        if (!value) {
            Py_DECREF(values);
            return nullptr;
        }
        PyList_SET_ITEM(values, node, value);
    }
    return values;
}

// poke(node, "name", value), or a tuple of values for a memory
PyObject* mesh_poke(MeshObject* self, PyObject* arguments) {
    unsigned node;
    const char* wanted;
    PyObject* value;
    if (!PyArg_ParseTuple(arguments, "IsO", &node, &wanted, &value) || !known_node(self, node)) return nullptr;
    if (!self->mesh->poke(node, wanted, value)) return nullptr;
    Py_RETURN_NONE;
}

// peek_top("name") -> the value, or a list for a memory, of something that is no node
PyObject* mesh_peek_top(MeshObject* self, PyObject* argument) {
    const char* const wanted = PyUnicode_AsUTF8(argument);
    return wanted ? self->mesh->peek_top(wanted) : nullptr;
}

// poke_top("name", value)
PyObject* mesh_poke_top(MeshObject* self, PyObject* arguments) {
    const char* wanted;
    PyObject* value;
    if (!PyArg_ParseTuple(arguments, "sO", &wanted, &value)) return nullptr;
    if (!self->mesh->poke_top(wanted, value)) return nullptr;
    Py_RETURN_NONE;
}

// open_wave(path, from, to) -> whether it is open
PyObject* mesh_open_wave(MeshObject* self, PyObject* arguments) {
    const char* path;
    long long from, to;
    if (!PyArg_ParseTuple(arguments, "sLL", &path, &from, &to)) return nullptr;
    return PyBool_FromLong(self->mesh->open_wave(path, from, to));
}

// A writeable buffer of int64, released when it goes out of scope.
class Int64s {
  public:
    Int64s(PyObject* array, std::size_t count) {
        if (PyObject_GetBuffer(array, &buffer_, PyBUF_CONTIG)) return;
        held_ = true;
        if (buffer_.itemsize != 8 || buffer_.len != static_cast<Py_ssize_t>(8 * count))
            PyErr_Format(PyExc_ValueError, "an array must have %zu int64", count);
    }
    ~Int64s() {
        if (held_) PyBuffer_Release(&buffer_);
    }
    Int64s(const Int64s&) = delete;
    Int64s& operator=(const Int64s&) = delete;
    std::int64_t* data() { return static_cast<std::int64_t*>(buffer_.buf); }

  private:
    Py_buffer buffer_;
    bool held_ = false;
};

// run(programs, results, cycles, accesses, finished, categories, max_cycles, quiet_cycles, events, observer, host)
// -> events as bytes, or None
PyObject* mesh_run(MeshObject* self, PyObject* arguments) {
    PyObject *programs, *results, *cycles, *accesses, *finished, *observer, *host;
    unsigned categories;
    long long max_cycles, quiet_cycles;
    int events;
    if (!PyArg_ParseTuple(arguments, "O!O!OOOILLpOO", &PyList_Type, &programs, &PyList_Type, &results, &cycles,
                          &accesses, &finished, &categories, &max_cycles, &quiet_cycles, &events, &observer, &host))
        return nullptr;
    const Py_ssize_t nodes = self->mesh->nodes();
    if (PyList_GET_SIZE(programs) != nodes || PyList_GET_SIZE(results) != nodes)
        return PyErr_Format(PyExc_ValueError, "programs and results must have %zd entries", nodes);
    if (self->running) return PyErr_Format(PyExc_RuntimeError, "the mesh is running");
    Int64s cycle_counts{cycles, std::size_t(nodes) * categories}, access_counts{accesses, 2 * std::size_t(nodes)},
        finished_times{finished, std::size_t(nodes)};
    if (PyErr_Occurred()) return nullptr;
    Py_INCREF(self);  // programs may drop the machine that they run on
    self->running = true;
    PyObject* recorded = nullptr;
    {
        Run run{*self->mesh,
                vocabulary,
                programs,
                results,
                {cycle_counts.data(), access_counts.data(), finished_times.data(), categories},
                {max_cycles, quiet_cycles, events != 0, observer == Py_None ? nullptr : observer, host}};
        bool ended = false;
        try {
            ended = run.to_end();
        } catch (const DescriptionError& error) {
            PyErr_SetString(PyExc_ValueError, error.what());
        }
        if (ended)
            recorded = !events ? Py_NewRef(Py_None)
                               : PyBytes_FromStringAndSize(reinterpret_cast<const char*>(run.events().data()),
                                                           run.events().size() * sizeof(Event));
    }
    self->running = false;
    Py_DECREF(self);
    return recorded;
}

template <class F>
PyCFunction method(F function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(function));
}

PyMethodDef mesh_methods[] = {
    {"run", method(mesh_run), METH_VARARGS, nullptr},   {"full", method(mesh_full), METH_O, nullptr},
    {"open_wave", method(mesh_open_wave), METH_VARARGS, nullptr},
    {"available", method(mesh_available), METH_O, nullptr},
    {"peek_top", method(mesh_peek_top), METH_O, nullptr}, {"poke_top", method(mesh_poke_top), METH_VARARGS, nullptr},
    {"clock", method(mesh_clock), METH_O, nullptr},     {"names", method(mesh_names), METH_NOARGS, nullptr},
    {"top_names", method(mesh_top_names), METH_NOARGS, nullptr},
    {"peek", method(mesh_peek), METH_O, nullptr},       {"poke", method(mesh_poke), METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef mesh_attributes[] = {
    {"time", reinterpret_cast<getter>(mesh_time), nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot mesh_slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(mesh_new)},
    {Py_tp_dealloc, reinterpret_cast<void*>(mesh_dealloc)},
    {Py_tp_methods, mesh_methods},
    {Py_tp_getset, mesh_attributes},
    {0, nullptr},
};

PyType_Spec mesh_spec = {"pointsman_mesh.Mesh", sizeof(MeshObject), 0, Py_TPFLAGS_DEFAULT, mesh_slots};

int fill_module(PyObject* module) {
    if (!vocabulary.throw_ && !vocabulary.fill()) return -1;
    PyObject* const type = PyType_FromModuleAndSpec(module, &mesh_spec, nullptr);
    const int failed = type ? PyModule_AddObjectRef(module, "Mesh", type) : -1;
    Py_XDECREF(type);
    return failed;
}

PyModuleDef_Slot module_slots[] = {{Py_mod_exec, reinterpret_cast<void*>(fill_module)}, {0, nullptr}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "pointsman_mesh", nullptr, 0, nullptr, module_slots, nullptr, nullptr, nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit_pointsman_mesh() { return PyModuleDef_Init(&definition); }
