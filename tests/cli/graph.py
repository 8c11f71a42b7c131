"""graph.py: ONNX files read and run with nothing but NumPy, from the format's own description: what mercer export writes is checked against a
second reading of it where no runtime is installed. Names every field it meets, so that one it does not know is an error."""
import struct

import numpy as np

TYPES = {1: np.float32, 7: np.int64, 8: object, 9: np.bool_, 11: np.float64}
# message: {field: (name, kind)}; kind: the message inside, or what the bytes are.
SCHEMA = {
    "model": {1: ("format", int), 2: ("producer", str), 3: ("version", str), 7: ("graph", "graph"), 8: ("operators", "operators"),
              14: ("properties", "entry")},
    "operators": {1: ("domain", str), 2: ("version", int)},
    "entry": {1: ("key", str), 2: ("value", str)},
    "graph": {1: ("nodes", "node"), 2: ("name", str), 5: ("constants", "tensor"), 11: ("inputs", "info"), 12: ("outputs", "info")},
    "node": {1: ("inputs", str), 2: ("outputs", str), 4: ("op", str), 5: ("attributes", "attribute"), 7: ("domain", str)},
    "attribute": {1: ("name", str), 3: ("i", int), 4: ("s", str), 6: ("g", "graph"), 7: ("floats", "floats"), 8: ("ints", "varints"),
                  9: ("strings", str), 20: ("type", int)},
    "tensor": {1: ("dims", int), 2: ("type", int), 6: ("strings", str), 7: ("ints", "varints"), 8: ("name", str), 9: ("raw", bytes)},
    "info": {1: ("name", str), 2: ("type", "type")},
    "type": {1: ("tensor", "tensor_type")},
    "tensor_type": {1: ("element", int), 2: ("shape", "shape")},
    "shape": {1: ("dims", "dim")},
    "dim": {1: ("value", int), 2: ("param", str)},
}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value - (1 << 64) if value >> 63 else value, at


def varints(data):
    out, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        out.append(value)
    return out


def convert(kind, bits):
    if kind is str:
        return bits.decode()
    if kind is bytes:
        return bits
    if kind == "floats":
        return list(struct.unpack(f"<{len(bits) // 4}f", bits))
    return varints(bits) if kind == "varints" else decode(kind, bits)


def decode(message, data):
    """{name: [values]} of the fields of a message."""
    out, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        name, kind = SCHEMA[message][key >> 3]
        if kind is int:
            assert key & 7 == 0, (message, name)
            value, at = varint(data, at)
        else:
            assert key & 7 == 2, (message, name)
            length, at = varint(data, at)
            assert at + length <= len(data)
            value, at = convert(kind, data[at:at + length]), at + length
        out.setdefault(name, []).append(value)
    return out


def one(message, name, default=None):
    values = message.get(name, [default])
    assert len(values) == 1, name
    return values[0]


def tensor(t):
    shape, kind = t.get("dims", []), one(t, "type")
    if kind == 8:
        return np.array(t["strings"], object).reshape(shape)
    values = np.array(one(t, "ints"), np.int64) if kind == 7 else np.frombuffer(one(t, "raw"), "<f8")
    return values.reshape(shape)


def attributes(node):
    kinds = {2: "i", 3: "s", 5: "g", 6: "floats", 7: "ints"}
    return {one(a, "name"): a["strings"] if one(a, "type") == 8 else one(a, kinds[one(a, "type")]) for a in node.get("attributes", [])}


def kernel(a, x, z):
    gamma, coef0, degree = a["kernel_params"]
    if a["kernel_type"] == "RBF":
        return np.exp(-gamma * ((x[:, None, :] - z[None]) ** 2).sum(2))
    return {"LINEAR": lambda s: s, "POLY": lambda s: (gamma * s + coef0) ** degree, "SIGMOID": lambda s: np.tanh(gamma * s + coef0)}[
        a["kernel_type"]](x @ z.T)


def svm_regressor(a, x):
    z = np.array(a["support_vectors"]).reshape(a["n_supports"], -1)
    return [kernel(a, x.astype(float), z) @ np.array(a["coefficients"])[:, None] + a["rho"][0]]


def svm_classifier(a, x):
    """As LIBSVM decides: one vote per pair, of equals the first."""
    count, labels = a["vectors_per_class"], a["classlabels_strings"]
    start, classes = np.cumsum([0, *count]), len(count)
    z = np.array(a["support_vectors"]).reshape(sum(count), -1)
    coefficients = np.array(a["coefficients"]).reshape(classes - 1, -1)
    K, decisions, votes = kernel(a, x.astype(float), z), [], np.zeros((len(x), classes))
    for i in range(classes):
        for j in range(i + 1, classes):
            first, second = slice(start[i], start[i + 1]), slice(start[j], start[j + 1])
            d = K[:, first] @ coefficients[j - 1, first] + K[:, second] @ coefficients[i, second] + a["rho"][len(decisions)]
            decisions.append(d)
            votes[:, i] += d > 0
            votes[:, j] += d <= 0
    return [np.array(labels, object)[votes.argmax(1)], np.stack(decisions, 1)]


def scan(a, state, *inputs):
    body, axes = a["g"] if "g" in a else a["body"], a["scan_input_axes"]
    names = [one(i, "name") for i in body["inputs"]]
    for j in range(inputs[0].shape[axes[0]]):
        columns = [np.take(v, j, axis=axis) for v, axis in zip(inputs, axes, strict=True)]
        known = dict(a["outer"], **dict(zip(names, [state, *columns], strict=True)))
        state = evaluate(body, known)[one(one(body, "outputs"), "name")]
    return [state]


def top_k(a, x, k):
    assert a["largest"] == 0
    at = np.argsort(x, axis=1, kind="stable")[:, :k[0]]
    return [np.take_along_axis(x, at, 1), at]


def softmax(a, x):
    e = np.exp(x - x.max(1, keepdims=True))
    return [e / e.sum(1, keepdims=True)]


SIMPLE = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Pow": np.power, "Gemm": np.matmul, "Min": np.minimum,
          "Max": np.maximum, "Exp": np.exp, "Log": np.log, "Neg": np.negative, "Sqrt": np.sqrt, "Sin": np.sin, "Cos": np.cos, "Tanh": np.tanh, "Abs": np.abs,
          "Atan": np.arctan, "Asin": np.arcsin, "Sign": np.sign,
          "Equal": np.equal, "Greater": np.greater, "Not": np.logical_not, "Where": np.where, "IsNaN": np.isnan,
          "Relu": lambda x: np.maximum(x, 0), "Shape": lambda x: np.array(x.shape), "Expand": np.broadcast_to, "Identity": lambda x: x,
          "Sigmoid": lambda x: 1 / (1 + np.exp(-x)), "Unsqueeze": lambda x, axes: np.expand_dims(x, tuple(axes))}
OTHER = {"Cast": lambda a, x: [x.astype(TYPES[a["to"]])], "Concat": lambda a, *x: [np.concatenate(x, a["axis"])],
         "Gather": lambda a, x, at: [np.take(x, at, axis=a["axis"])], "Softmax": softmax, "TopK": top_k, "Scan": scan,
         "ReduceSum": lambda a, x, axes: [x.sum(axis=tuple(axes), keepdims=bool(a["keepdims"]))],
         "ArgMax": lambda a, x: [x.argmax(a["axis"])], "Slice": lambda a, x, start, stop, axes: [np.take(x, np.arange(start[0], stop[0]), axes[0])],
         "SVMRegressor": svm_regressor, "SVMClassifier": svm_classifier}


def evaluate(graph, known):
    """All values of a graph, of which each is made once, from values that exist."""
    known = dict(known, **{one(t, "name"): tensor(t) for t in graph.get("constants", [])})
    for node in graph["nodes"]:
        inputs, op, a = [known[name] for name in node["inputs"]], one(node, "op"), attributes(node)
        assert (one(node, "domain") == "ai.onnx.ml") == op.startswith("SVM"), op
        with np.errstate(all="ignore"):
            results = [SIMPLE[op](*inputs)] if op in SIMPLE else OTHER[op](dict(a, outer=known), *inputs)
        for name, result in zip(node["outputs"], results, strict=True):
            assert name not in known, name
            known[name] = result
    return known


def load(path):
    model = decode("model", open(path, "rb").read())
    versions = {one(o, "domain"): one(o, "version") for o in model["operators"]}
    assert one(model, "format") == 8 and versions.pop("") == 17 and versions in ({}, {"ai.onnx.ml": 3}), versions
    return model


def run(path, rows):
    """The outputs of a file by name, of the type and shape it says they have."""
    graph = one(load(path), "graph")
    assert [one(i, "name") for i in graph["inputs"]] == ["X"]
    known, out = evaluate(graph, {"X": rows}), {}
    for info in graph["outputs"]:
        name, kind = one(info, "name"), one(one(info, "type"), "tensor")
        shape = [one(d, "value", len(rows)) for d in one(kind, "shape")["dims"]]
        assert known[name].shape == tuple(shape) and known[name].dtype == TYPES[one(kind, "element")], (name, known[name].shape, shape)
        out[name] = known[name]
    return out


def weight(path):
    """The sum of the coefficients of a support vector machine, by size: what its floats may be wrong by is a share of this."""
    for node in one(load(path), "graph")["nodes"]:
        if one(node, "op").startswith("SVM"):
            return float(np.abs(attributes(node)["coefficients"]).sum())
    return 0.0
