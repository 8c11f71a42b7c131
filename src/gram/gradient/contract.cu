/* contract.cu: sums of M_ij dk(x_i, x_j)/dtheta: what stands before the function of the kernel. */
#ifdef __CUDACC__
#define FUNCTION static __device__ __forceinline__
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
#define SHARED __shared__ __align__(16)
#define SYNC() __syncthreads()
#define UNROLL _Pragma("unroll")
#endif
typedef unsigned long long address;
typedef long long whole;
typedef struct argument {
    address x, A, left, right, numbers, weights, partial;
    whole n, ld, i0, i1, j0, j1, half, terms, range, first;
    double factor;
} argument;
