/* cuda_device.h: a card that is open, inside libmercer_cuda.so. */
#ifndef MC_BACKEND_CUDA_CUDA_DEVICE_H
#define MC_BACKEND_CUDA_CUDA_DEVICE_H

#include "backend/device_dense.h"
#include <cuda.h>
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <nvrtc.h>

enum { PROGRAMS = 256 };

typedef struct program {
    uint64_t key[2];
    CUmodule module;
} program;

typedef struct device {
    CUdevice card;
    CUcontext context;
    int major, minor;
    program programs[PROGRAMS];
    int count;
    struct {
        bool tried, found;
        void *library;
        __typeof__(nvrtcCreateProgram) *create;
        __typeof__(nvrtcDestroyProgram) *destroy;
        __typeof__(nvrtcCompileProgram) *compile;
        __typeof__(nvrtcGetProgramLogSize) *log_size;
        __typeof__(nvrtcGetProgramLog) *log;
        __typeof__(nvrtcGetCUBINSize) *image_size;
        __typeof__(nvrtcGetCUBIN) *image;
        __typeof__(nvrtcGetErrorString) *name;
    } nvrtc;
    struct {
        bool tried;
        void *library;
        cublasHandle_t handle;
        __typeof__(cublasCreate_v2) *create;
        __typeof__(cublasDestroy_v2) *destroy;
        __typeof__(cublasGemmEx_64) *gemm;
        __typeof__(cublasDsyrk_v2_64) *dsyrk;
        __typeof__(cublasSsyrk_v2_64) *ssyrk;
        __typeof__(cublasDtrmm_v2_64) *dtrmm;
        __typeof__(cublasStrmm_v2_64) *strmm;
        __typeof__(cublasDtrsm_v2_64) *dtrsm;
        __typeof__(cublasStrsm_v2_64) *strsm;
    } blas;
    struct {
        bool tried;
        void *library;
        cusolverDnHandle_t handle;
        cusolverDnParams_t params;
        __typeof__(cusolverDnCreate) *create;
        __typeof__(cusolverDnDestroy) *destroy;
        __typeof__(cusolverDnCreateParams) *create_params;
        __typeof__(cusolverDnDestroyParams) *destroy_params;
        __typeof__(cusolverDnXpotrf_bufferSize) *potrf_bytes;
        __typeof__(cusolverDnXpotrf) *potrf;
        __typeof__(cusolverDnXtrtri_bufferSize) *trtri_bytes;
        __typeof__(cusolverDnXtrtri) *trtri;
        __typeof__(cusolverDnDlauum_bufferSize) *dlauum_bytes;
        __typeof__(cusolverDnDlauum) *dlauum;
        __typeof__(cusolverDnSlauum_bufferSize) *slauum_bytes;
        __typeof__(cusolverDnSlauum) *slauum;
        __typeof__(cusolverDnXsyevd_bufferSize) *syevd_bytes;
        __typeof__(cusolverDnXsyevd) *syevd;
    } solver;
    char message[MC_DEVICE_TEXT];
} device;

/* cuda_device.c: what went wrong, kept for message; the fault itself. */
mc_device_fault cuda_fault(device *d, mc_device_fault fault, const char *what, const char *why);
mc_device_fault cuda_check(device *d, const char *what, CUresult result);
/* Makes the card the one of the thread that calls. */
mc_device_fault cuda_enter(device *d);
/* A function of an opened library, to a pointer of its type. */
bool cuda_find(void *library, const char *name, void *out);
bool cuda_open_blas(device *d);

/* cuda_dense.c */
extern const mc_device_dense_calls cuda_dense;
void cuda_close_solver(device *d);

#endif
