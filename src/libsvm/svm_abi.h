/* svm_abi.h: the binary interface of libsvm.so.3 (LIBSVM 3.24): layouts, numbers and names that programs linked with it
   rely on. libmercer-svm.so offers the same over Mercer's solvers.

   What callers of that library know of it and this one keeps: rows are arrays of (index, value) that index -1 ends; a
   model that was trained points to the rows of its problem, one that was loaded owns its rows (free_sv); everything in
   a model is the C library's memory, and so is what svm_destroy_param frees. */
#ifndef MC_LIBSVM_SVM_ABI_H
#define MC_LIBSVM_SVM_ABI_H

#include <mercer.h>

struct svm_node {
    int index;
    double value;
};

struct svm_problem {
    int l; /* rows */
    double *y;
    struct svm_node **x;
};

/* svm_type and kernel_type, in the order of mc_libsvm_types and mc_libsvm_kernels. */
enum { SVM_C_SVC, SVM_NU_SVC, SVM_ONE_CLASS, SVM_EPSILON_SVR, SVM_NU_SVR };
enum { SVM_LINEAR, SVM_POLY, SVM_RBF, SVM_SIGMOID, SVM_PRECOMPUTED };

struct svm_parameter {
    int svm_type, kernel_type, degree;
    double gamma, coef0;
    double cache_size; /* in megabytes: checked, and of no other use here */
    double eps, C;
    int nr_weight; /* factors of C, of c_svc alone */
    int *weight_label;
    double *weight;
    double nu, p;
    int shrinking; /* checked, and of no other use here */
    int probability;
};

struct svm_model {
    struct svm_parameter param;
    int nr_class; /* 2 for regression and one-class */
    int l;        /* support vectors */
    struct svm_node **SV;
    double *
        *sv_coef; /* nr_class - 1 rows of l: of a vector of class c, row j goes with class j below c, j + 1 from c */
    double *rho;  /* of every pair (0,1), (0,2), ..., (1,2), ...: less the intercept */
    double *probA, *probB; /* of every pair; of regression probA[0] is the scale of a Laplace distribution */
    int *sv_indices;       /* places in the problem, from 1; NULL in a model that was loaded */
    int *label, *nSV;      /* of classes, whose vectors stand together in this order; NULL otherwise */
    int free_sv;
};

extern MERCER_API int libsvm_version;

MERCER_API struct svm_model *svm_train(const struct svm_problem *problem, const struct svm_parameter *param);
MERCER_API void svm_cross_validation(const struct svm_problem *problem, const struct svm_parameter *param, int nr_fold,
                                     double *target);
MERCER_API int svm_save_model(const char *path, const struct svm_model *model);
MERCER_API struct svm_model *svm_load_model(const char *path);
MERCER_API int svm_get_svm_type(const struct svm_model *model);
MERCER_API int svm_get_nr_class(const struct svm_model *model);
MERCER_API void svm_get_labels(const struct svm_model *model, int *label);
MERCER_API void svm_get_sv_indices(const struct svm_model *model, int *indices);
MERCER_API int svm_get_nr_sv(const struct svm_model *model);
MERCER_API double svm_get_svr_probability(const struct svm_model *model);
MERCER_API double svm_predict_values(const struct svm_model *model, const struct svm_node *x, double *values);
MERCER_API double svm_predict(const struct svm_model *model, const struct svm_node *x);
MERCER_API double svm_predict_probability(const struct svm_model *model, const struct svm_node *x, double *estimates);
MERCER_API void svm_free_model_content(struct svm_model *model);
MERCER_API void svm_free_and_destroy_model(struct svm_model **model);
MERCER_API void svm_destroy_param(struct svm_parameter *param);
MERCER_API const char *svm_check_parameter(const struct svm_problem *problem, const struct svm_parameter *param);
MERCER_API int svm_check_probability_model(const struct svm_model *model);
MERCER_API void svm_set_print_string_function(void (*print)(const char *));

#endif
