"""svm_library.py: libsvm.so.3 through ctypes, whoever made it: the structs of its interface, and problems from lists of rows."""
import ctypes
from ctypes import POINTER, c_char_p, c_double, c_int

C_SVC, NU_SVC, ONE_CLASS, EPSILON_SVR, NU_SVR = range(5)
LINEAR, POLY, RBF, SIGMOID, PRECOMPUTED = range(5)
PRINTER = ctypes.CFUNCTYPE(None, c_char_p)


class Node(ctypes.Structure):
    _fields_ = [("index", c_int), ("value", c_double)]


class Problem(ctypes.Structure):
    _fields_ = [("l", c_int), ("y", POINTER(c_double)), ("x", POINTER(POINTER(Node)))]


class Parameter(ctypes.Structure):
    _fields_ = [("svm_type", c_int), ("kernel_type", c_int), ("degree", c_int), ("gamma", c_double), ("coef0", c_double),
                ("cache_size", c_double), ("eps", c_double), ("C", c_double), ("nr_weight", c_int), ("weight_label", POINTER(c_int)),
                ("weight", POINTER(c_double)), ("nu", c_double), ("p", c_double), ("shrinking", c_int), ("probability", c_int)]


class Model(ctypes.Structure):
    _fields_ = [("param", Parameter), ("nr_class", c_int), ("l", c_int), ("SV", POINTER(POINTER(Node))),
                ("sv_coef", POINTER(POINTER(c_double))), ("rho", POINTER(c_double)), ("probA", POINTER(c_double)),
                ("probB", POINTER(c_double)), ("sv_indices", POINTER(c_int)), ("label", POINTER(c_int)), ("nSV", POINTER(c_int)),
                ("free_sv", c_int)]


PROTOTYPES = {
    "svm_train": (POINTER(Model), POINTER(Problem), POINTER(Parameter)),
    "svm_cross_validation": (None, POINTER(Problem), POINTER(Parameter), c_int, POINTER(c_double)),
    "svm_save_model": (c_int, c_char_p, POINTER(Model)),
    "svm_load_model": (POINTER(Model), c_char_p),
    "svm_get_svm_type": (c_int, POINTER(Model)),
    "svm_get_nr_class": (c_int, POINTER(Model)),
    "svm_get_labels": (None, POINTER(Model), POINTER(c_int)),
    "svm_get_sv_indices": (None, POINTER(Model), POINTER(c_int)),
    "svm_get_nr_sv": (c_int, POINTER(Model)),
    "svm_get_svr_probability": (c_double, POINTER(Model)),
    "svm_predict_values": (c_double, POINTER(Model), POINTER(Node), POINTER(c_double)),
    "svm_predict": (c_double, POINTER(Model), POINTER(Node)),
    "svm_predict_probability": (c_double, POINTER(Model), POINTER(Node), POINTER(c_double)),
    "svm_free_model_content": (None, POINTER(Model)),
    "svm_free_and_destroy_model": (None, POINTER(POINTER(Model))),
    "svm_destroy_param": (None, POINTER(Parameter)),
    "svm_check_parameter": (c_char_p, POINTER(Problem), POINTER(Parameter)),
    "svm_check_probability_model": (c_int, POINTER(Model)),
    "svm_set_print_string_function": (None, PRINTER),
}


def parameter(svm_type, kernel, weights=None, **more):
    """LIBSVM's defaults but for what is given."""
    fields = dict(degree=3, gamma=0.5, coef0=0, cache_size=100, eps=1e-3, C=1, nu=0.5, p=0.1, shrinking=1, probability=0) | more
    made = Parameter(svm_type=svm_type, kernel_type=kernel, **fields)
    if weights:
        made.nr_weight = len(weights)
        made.weight_label = (c_int * len(weights))(*weights)
        made.weight = (c_double * len(weights))(*weights.values())
    return made


def nodes(row):
    """[(index, value), ...] as LIBSVM has it."""
    return (Node * (len(row) + 1))(*row, (-1, 0.0))


def problem(rows, targets):
    kept = [nodes(row) for row in rows]
    made = Problem(len(rows), (c_double * len(rows))(*targets), (POINTER(Node) * len(rows))(*kept))
    made.kept = kept
    return made


class Library:
    """One of them, by its path; what it prints is kept in said."""

    def __init__(self, path):
        self.dll, self.said = ctypes.CDLL(path, mode=ctypes.RTLD_LOCAL), []
        for name, (result, *arguments) in PROTOTYPES.items():
            function = getattr(self.dll, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name[4:], function)
        self.printer = PRINTER(lambda text: self.said.append(text.decode()))
        self.set_print_string_function(self.printer)

    def fit(self, made, param):
        self.said.clear()
        model = self.train(made, param)
        assert model, "svm_train gave no model"
        return model

    def drop(self, model):
        self.free_and_destroy_model(ctypes.byref(model))

    def labels(self, model):
        out = (c_int * model.contents.nr_class)()
        self.get_labels(model, out)
        return list(out)

    def values(self, model, row):
        """The answer for a row, and its decision values."""
        k = model.contents.nr_class
        out = (c_double * max(1, k * (k - 1) // 2))()
        return self.predict_values(model, nodes(row), out), list(out)[:k * (k - 1) // 2]

    def probabilities(self, model, row):
        out = (c_double * model.contents.nr_class)()
        return self.predict_probability(model, nodes(row), out), list(out)

    def folds(self, made, param, count):
        out = (c_double * made.l)()
        self.cross_validation(made, param, count, out)
        return list(out)
