// Values of signals to Python and back.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "verilated.h"

template <class T>
PyObject* to_python(const T& value) {
    return PyLong_FromUnsignedLongLong(value);
}
template <std::size_t N>
PyObject* to_python(const VlWide<N>& value) {
    return PyObject_CallMethod(reinterpret_cast<PyObject*>(&PyLong_Type), "from_bytes", "y#s",
                               reinterpret_cast<const char*>(value.data()), static_cast<Py_ssize_t>(4 * N), "little");
}
template <class T, std::size_t N>
PyObject* to_python(const VlUnpacked<T, N>& memory) {
    PyObject* const list = PyList_New(N);
    for (std::size_t row = 0; list && row < N; ++row) {
        PyObject* const word = to_python(memory[row]);
        if (!word) {
            Py_DECREF(list);
            return nullptr;
        }
        PyList_SET_ITEM(list, row, word);
    }
    return list;
}

template <class T>
bool from_python(T& signal, PyObject* value) {
    const unsigned long long number = PyLong_AsUnsignedLongLong(value);
    if (PyErr_Occurred()) return false;
    signal = static_cast<T>(number);
    return true;
}
template <std::size_t N>
bool from_python(VlWide<N>& signal, PyObject* value) {
    PyObject* const bytes = PyObject_CallMethod(value, "to_bytes", "ns", static_cast<Py_ssize_t>(4 * N), "little");
    if (!bytes) return false;
    std::memcpy(signal.data(), PyBytes_AS_STRING(bytes), 4 * N);
    Py_DECREF(bytes);
    return true;
}
template <class T, std::size_t N>
bool from_python(VlUnpacked<T, N>& memory, PyObject* values) {
    if (!PyTuple_Check(values) || PyTuple_GET_SIZE(values) != static_cast<Py_ssize_t>(N)) {
        PyErr_Format(PyExc_ValueError, "a memory needs a tuple of %zu words", N);
        return false;
    }
    for (std::size_t row = 0; row < N; ++row)
        if (!from_python(memory[row], PyTuple_GET_ITEM(values, row))) return false;
    return true;
}

// Something wrong with the hardware's description, to be told in Python.
struct DescriptionError : std::runtime_error {
    using std::runtime_error::runtime_error;
};
