#include "requests.h"

bool Vocabulary::fill() {
    PyObject* module = PyImport_ImportModule("pointsman.runtime.api.requests");
    if (!module) return false;
    const struct {
        PyObject** place;
        const char* name;
    } classes[] = {{&wait, "Wait"}, {&wait_until, "WaitUntil"}, {&wait_empty, "WaitEmpty"}, {&transfer, "Transfer"}, {&attend, "Attend"}},
      attributes[] = {{&cycles, "cycles"}, {&time, "time"},   {&reg, "register"},        {&category, "category"},
                      {&lanes, "lanes"},   {&write, "write"}, {&registers, "registers"}, {&words, "words"},
                      {&data, "data"},     {&after, "after"}, {&after_all, "after_all"}, {&window, "window"},
                      {&pair, "pair"},     {&throw_, "throw"}, {&until, "until"},         {&full, "full"},
                      {&empty, "empty"},   {&state, "state"}, {&beside, "beside"},       {&item, "item"},
                      {&folds, "folds"},   {&left, "left"},   {&right, "right"},         {&result, "result"},
                      {&code, "code"}};
    bool ok = true;
    for (const auto& entry : classes) ok = ok && (*entry.place = PyObject_GetAttrString(module, entry.name));
    for (const auto& entry : attributes) ok = ok && (*entry.place = PyUnicode_InternFromString(entry.name));
    Py_DECREF(module);
    return ok;
}

Kind Reader::kind(PyObject* request, bool& until) const {
    PyTypeObject* const type = Py_TYPE(request);
    const auto is = [type](PyObject* other) {
        PyTypeObject* const wanted = reinterpret_cast<PyTypeObject*>(other);
        return type == wanted || PyType_IsSubtype(type, wanted);
    };
    until = false;
    if (is(names_.transfer)) return Kind::transfer;
    if (is(names_.attend)) return Kind::attend;
    if (is(names_.wait)) return Kind::timer;
    if (is(names_.wait_empty)) return Kind::empty;
    until = is(names_.wait_until);
    return until ? Kind::timer : Kind::idle;
}

bool Reader::number(PyObject* object, PyObject* name, std::int64_t& value, std::int64_t none) {
    PyObject* const attribute = PyObject_GetAttr(object, name);
    if (!attribute) return false;
    value = attribute == Py_None ? none : PyLong_AsLongLong(attribute);
    Py_DECREF(attribute);
    return !(value == -1 && PyErr_Occurred());
}

bool Reader::category(Reading& reading, PyObject* request, PyObject* name, std::int64_t none) {
    std::int64_t value;
    if (!number(request, name, value, none)) return false;
    reading.category = static_cast<int>(value);
    return true;
}

Entered Reader::read(Processor& processor, PyObject* request) const {
    if (processor.knows(request)) {
        Reading& reading = processor.reading();
        for (Lane& lane : reading.lanes) lane.moved = lane.turn = 0;
        processor.open = reading.words;
        return Entered::waits;
    }
    bool until;
    const Kind what = kind(request, until);
    if (what == Kind::idle) return Entered::refused;
    Reading& reading = processor.renew();
    reading.kind = what;
    reading.until = until;
    Entered result = Entered::waits;
    switch (what) {
        case Kind::idle:
            break;
        case Kind::transfer:
            result = transfer(reading, request);
            if (result == Entered::waits && reading.words == 0) result = Entered::at_once;
            break;
        case Kind::timer:
            if (!number(request, until ? names_.time : names_.cycles, reading.value, 0) ||
                !category(reading, request, names_.category, 0))
                result = Entered::error;
            break;
        case Kind::attend:
            result = attend(processor, request);
            break;
        case Kind::empty:
            if (!number(request, names_.reg, reading.value, 0) || !category(reading, request, names_.category, 0))
                result = Entered::error;
            else if (!has_register(reading.value))
                result = Entered::refused;
            break;
    }
    if (result != Entered::waits) {
        processor.watches.clear();
        processor.state = nullptr;
        processor.drop();
        return result;
    }
    if (what != Kind::attend) processor.open = reading.words;
    if (what == Kind::transfer && reading.lanes.size() == 1) {
        const Lane& lane = reading.lanes[0];
        if (lane.registers == 1 && lane.after < 0 && lane.pair < 0 && !lane.folds)
            processor.plain[processor.current] = {lane.data,
                                                  lane.words,
                                                  reading.registers[0],
                                                  static_cast<std::int16_t>(reading.category),
                                                  lane.bytes,
                                                  lane.write};
    }
    processor.keep(request);
    return Entered::waits;
}

Entered Reader::transfer(Reading& reading, PyObject* request) const {
    if (!category(reading, request, names_.category, -1)) return Entered::error;
    PyObject* const lanes = PyObject_GetAttr(request, names_.lanes);
    if (!lanes) return Entered::error;
    Entered result = Entered::waits;
    if (!PyTuple_Check(lanes)) {
        PyErr_SetString(PyExc_TypeError, "lanes of a transfer must be a tuple");
        result = Entered::error;
    }
    for (Py_ssize_t k = 0; result == Entered::waits && k < PyTuple_GET_SIZE(lanes); ++k)
        result = lane(reading, PyTuple_GET_ITEM(lanes, k), PyTuple_GET_SIZE(lanes));
    Py_DECREF(lanes);
    return result;
}

Entered Reader::lane(Reading& reading, PyObject* object, std::size_t lane_count) const {
    std::int64_t write, words, after, after_all, window, pair, item;
    if (!number(object, names_.write, write, 0) || !number(object, names_.words, words, 0) ||
        !number(object, names_.after, after, -1) || !number(object, names_.after_all, after_all, 0) ||
        !number(object, names_.window, window, 0) || !number(object, names_.pair, pair, -1) ||
        !number(object, names_.item, item, 1))
        return Entered::error;
    const std::int64_t count = static_cast<std::int64_t>(lane_count);
    if (words < 0 || after >= count || pair >= count || item < 1) return Entered::refused;

    Lane lane{};
    lane.write = write;
    lane.words = words;
    lane.after = static_cast<std::int32_t>(after);
    lane.after_all = after_all;
    lane.pair = static_cast<std::int32_t>(pair);
    lane.window = window;
    lane.item = item;
    lane.first = static_cast<std::uint32_t>(reading.registers.size());

    PyObject* const registers = PyObject_GetAttr(object, names_.registers);
    if (!registers) return Entered::error;
    bool known = PyTuple_Check(registers) && PyTuple_GET_SIZE(registers) > 0;
    for (Py_ssize_t k = 0; known && k < PyTuple_GET_SIZE(registers); ++k) {
        const long long reg = PyLong_AsLongLong(PyTuple_GET_ITEM(registers, k));
        known = has_register(reg);
        reading.registers.push_back(static_cast<std::uint16_t>(reg));
    }
    Py_DECREF(registers);
    if (PyErr_Occurred()) return Entered::error;
    if (!known) return Entered::refused;
    lane.registers = static_cast<std::uint32_t>(reading.registers.size()) - lane.first;

    PyObject* const data = PyObject_GetAttr(object, names_.data);
    if (!data) return Entered::error;
    if (data != Py_None) {
        Py_buffer buffer;
        if (PyObject_GetBuffer(data, &buffer, lane.write ? PyBUF_CONTIG_RO : PyBUF_CONTIG)) {
            Py_DECREF(data);
            return Entered::error;
        }
        reading.buffers.push_back(buffer);
        lane.data = static_cast<char*>(buffer.buf);
        lane.bytes = static_cast<std::uint8_t>(buffer.itemsize);
        const bool fits = (buffer.itemsize == 8 || (buffer.itemsize == 4 && width_ <= 32)) &&
                          buffer.len / buffer.itemsize >= words;
        if (!fits) {
            Py_DECREF(data);
            return Entered::refused;
        }
    }
    Py_DECREF(data);
    lane.first_fold = static_cast<std::uint32_t>(reading.folds.size());
    PyObject* const folds = PyObject_GetAttr(object, names_.folds);
    bool folded = folds && PyTuple_Check(folds);
    for (Py_ssize_t k = 0; folded && k < PyTuple_GET_SIZE(folds); ++k) folded = fold(reading, PyTuple_GET_ITEM(folds, k));
    Py_XDECREF(folds);
    if (!folded) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "folds of a lane must be a tuple");
        return Entered::error;
    }
    lane.folds = static_cast<std::uint32_t>(reading.folds.size()) - lane.first_fold;
    reading.words += lane.words;
    reading.lanes.push_back(lane);
    return Entered::waits;
}

// A fold of a lane, whose arrays pointsman.runtime.api.requests has checked.
bool Reader::fold(Reading& reading, PyObject* object) const {
    std::int64_t code;
    if (!number(object, names_.code, code, 0)) return false;
    char* places[3];
    PyObject* const names[] = {names_.left, names_.right, names_.result};
    for (unsigned k = 0; k < 3; ++k) {
        PyObject* const data = PyObject_GetAttr(object, names[k]);
        if (!data) return false;
        Py_buffer buffer;
        const int failed = PyObject_GetBuffer(data, &buffer, k == 2 ? PyBUF_CONTIG : PyBUF_CONTIG_RO);
        Py_DECREF(data);
        if (failed) return false;
        reading.buffers.push_back(buffer);
        places[k] = static_cast<char*>(buffer.buf);
    }
    reading.folds.push_back({places[0], places[1], places[2], static_cast<std::uint32_t>(code)});
    return true;
}

Entered Reader::watches(Processor& processor, PyObject* request, PyObject* name, bool full) const {
    PyObject* const registers = PyObject_GetAttr(request, name);
    if (!registers) return Entered::error;
    Entered result = Entered::waits;
    if (!PyTuple_Check(registers)) {
        PyErr_SetString(PyExc_TypeError, "registers of a request to attend must be a tuple");
        result = Entered::error;
    }
    for (Py_ssize_t k = 0; result == Entered::waits && k < PyTuple_GET_SIZE(registers); ++k) {
        const long long reg = PyLong_AsLongLong(PyTuple_GET_ITEM(registers, k));
        if (reg == -1 && PyErr_Occurred()) {
            result = Entered::error;
        } else if (!has_register(reg)) {
            result = Entered::refused;
        } else {
            processor.watches.push_back({static_cast<std::uint16_t>(reg), full});
        }
    }
    Py_DECREF(registers);
    return result;
}

Entered Reader::attend(Processor& processor, PyObject* request) const {
    Reading& reading = processor.reading();
    if (!number(request, names_.until, reading.value, -1)) return Entered::error;
    const Entered moves = transfer(reading, request);
    if (moves != Entered::waits) return moves;
    const Entered marked = beside(reading, request);
    if (marked != Entered::waits) return marked;
    processor.open = 0;
    processor.watches.clear();
    for (const bool full : {true, false}) {
        const Entered result = watches(processor, request, full ? names_.full : names_.empty, full);
        if (result != Entered::waits) return result;
    }
    PyObject* const state = PyObject_GetAttr(request, names_.state);
    if (!state) return Entered::error;
    Py_buffer buffer;
    const int failed = PyObject_GetBuffer(state, &buffer, PyBUF_CONTIG);
    Py_DECREF(state);
    if (failed) return Entered::error;
    reading.buffers.push_back(buffer);
    const std::size_t count = reading.lanes.size() + processor.watches.size();
    if (buffer.itemsize != 8 || buffer.len != static_cast<Py_ssize_t>(8 * count)) return Entered::refused;
    processor.state = static_cast<std::int64_t*>(buffer.buf);
    for (std::size_t k = 0; k < reading.lanes.size(); ++k) {
        Lane& lane = reading.lanes[k];
        const std::int64_t moved = processor.state[k];
        if (moved < 0 || static_cast<std::uint64_t>(moved) > lane.words) return Entered::refused;
        lane.moved = static_cast<std::uint64_t>(moved);
        lane.turn = static_cast<std::uint32_t>(lane.moved % lane.registers);
        if (lane.beside) continue;
        reading.needs = true;
        processor.open += lane.words - lane.moved;
    }
    return Entered::waits;
}

// Mark the lanes that do not count for the end of a request.
Entered Reader::beside(Reading& reading, PyObject* request) const {
    PyObject* const numbers = PyObject_GetAttr(request, names_.beside);
    if (!numbers) return Entered::error;
    Entered result = Entered::waits;
    if (!PyTuple_Check(numbers)) {
        PyErr_SetString(PyExc_TypeError, "lanes beside others must be a tuple");
        result = Entered::error;
    }
    for (Py_ssize_t k = 0; result == Entered::waits && k < PyTuple_GET_SIZE(numbers); ++k) {
        const long long lane = PyLong_AsLongLong(PyTuple_GET_ITEM(numbers, k));
        if (lane == -1 && PyErr_Occurred())
            result = Entered::error;
        else if (lane < 0 || lane >= static_cast<long long>(reading.lanes.size()))
            result = Entered::refused;
        else
            reading.lanes[static_cast<std::size_t>(lane)].beside = true;
    }
    Py_DECREF(numbers);
    return result;
}
