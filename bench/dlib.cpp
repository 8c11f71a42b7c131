// dlib.cpp: the trainers of dlib on rows that dlib_peers.py has written; compiled by it where dlib is installed.
//
//     dlib svm TRAIN TEST C GAMMA CACHE-MB OUT       svm_c_trainer at its default tolerance of 1e-3
//     dlib krr TRAIN TEST LAMBDA GAMMA BASIS OUT     krr_trainer with so many basis vectors at most
//
// TRAIN and TEST are CSV with a header, ten columns and the target. Prints the seconds of training; OUT gets "coefficient,ten columns" for
// every basis vector of the function, after a line with its bias and ten zeros; OUT.test the values of the function on TEST.
#include <chrono>
#include <cstdio>
#include <dlib/svm.h>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

constexpr long columns = 10; // a fixed size, as dlib's examples have it: nothing is allocated for a row
using row = dlib::matrix<double, columns, 1>;
using gauss = dlib::radial_basis_kernel<row>;

struct rows {
    std::vector<row> x;
    std::vector<double> y;
};

static rows read(const char *path) {
    std::ifstream file(path);
    std::string line, cell;
    rows all;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::istringstream cells(line);
        row x;
        for (long j = 0; j < columns && std::getline(cells, cell, ','); j++)
            x(j) = std::stod(cell);
        std::getline(cells, cell, ',');
        all.x.push_back(x);
        all.y.push_back(std::stod(cell));
    }
    return all;
}

static void write(const dlib::decision_function<gauss> &f, const rows &test, const std::string &path) {
    std::ofstream out(path), values(path + ".test");
    out.precision(17), values.precision(17);
    out << -f.b << ",0,0,0,0,0,0,0,0,0,0\n"; // dlib subtracts it
    for (long i = 0; i < f.alpha.size(); i++) {
        out << f.alpha(i);
        for (long j = 0; j < columns; j++)
            out << ',' << f.basis_vectors(i)(j);
        out << '\n';
    }
    for (const row &x : test.x)
        values << f(x) << '\n';
}

template <typename trainer> static void train(const trainer &machine, char **argv) {
    const rows data = read(argv[2]), test = read(argv[3]);
    const auto began = std::chrono::steady_clock::now();
    const dlib::decision_function<gauss> f = machine.train(data.x, data.y);
    std::printf("%.6f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    write(f, test, argv[7]);
}

int main(int argc, char **argv) {
    if (argc != 8)
        return 2;
    const double penalty = std::stod(argv[4]);
    const gauss kernel(std::stod(argv[5]));
    if (std::string(argv[1]) == "svm") {
        dlib::svm_c_trainer<gauss> machine(kernel, penalty);
        machine.set_cache_size(std::stol(argv[6]));
        train(machine, argv);
    } else {
        dlib::krr_trainer<gauss> machine;
        machine.set_kernel(kernel);
        machine.set_lambda(penalty);
        machine.set_max_basis_size(std::stoul(argv[6]));
        machine.use_regression_loss_for_loo_cv();
        train(machine, argv);
    }
}
