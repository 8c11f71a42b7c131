/* device_dense.c: dense algebra on a device, its faults as statuses. */
#include "backend/device_dense.h"
#include "base/status.h"

bool mc_device_has_dense(mercer_ctx *ctx, mc_device *device) {
    char why[MC_DEVICE_TEXT] = "its library does none";
    const mc_device_dense_calls *dense = device->calls->dense;
    if (dense && dense->can(device->self, why))
        return true;
    if (!device->dense_refused)
        mc_log_message(ctx, "device %s does no dense algebra (%s): the processor does", device->name, why);
    device->dense_refused = true;
    return false;
}

mercer_status mc_device_gemm(mercer_ctx *ctx, mc_device *device, bool ta, bool tb, int64_t m, int64_t n, int64_t k,
                             double alpha, mc_device_matrix A, mc_device_matrix B, double beta, mc_device_matrix C) {
    return mc_device_report(ctx, device,
                            device->calls->dense->gemm(device->self, ta, tb, m, n, k, alpha, A, B, beta, C));
}

mercer_status mc_device_syrk(mercer_ctx *ctx, mc_device *device, bool upper, bool trans, int64_t n, int64_t k,
                             double alpha, mc_device_matrix A, double beta, mc_device_matrix C) {
    return mc_device_report(ctx, device,
                            device->calls->dense->syrk(device->self, upper, trans, n, k, alpha, A, beta, C));
}

mercer_status mc_device_trmm(mercer_ctx *ctx, mc_device *device, bool right, bool upper, bool trans, int64_t m,
                             int64_t n, double alpha, mc_device_matrix T, mc_device_matrix B) {
    return mc_device_report(ctx, device,
                            device->calls->dense->trmm(device->self, right, upper, trans, m, n, alpha, T, B));
}

mercer_status mc_device_trsm(mercer_ctx *ctx, mc_device *device, bool right, bool upper, bool trans, int64_t m,
                             int64_t n, double alpha, mc_device_matrix T, mc_device_matrix B) {
    return mc_device_report(ctx, device,
                            device->calls->dense->trsm(device->self, right, upper, trans, m, n, alpha, T, B));
}

mercer_status mc_device_run(mercer_ctx *ctx, mc_device *device, const mc_device_square *square, int64_t *info) {
    const mc_device_dense_calls *dense = device->calls->dense;
    mc_address work = 0;
    size_t bytes = 0;
    MC_TRY(mc_device_report(ctx, device, dense->work_bytes(device->self, square, &bytes)));
    MC_TRY(mc_device_allocate(ctx, device, bytes, &work));
    const mercer_status status = mc_device_report(ctx, device, dense->run(device->self, square, work, bytes, info));
    mc_device_release(device, work, bytes);
    return status;
}
