/* tools/simgpu/simgpu.h — the C API of the simulated GPU's driver (its libcuda.so.1 exports these
 * beside cu*).
 *
 * For tests: make an entry point fail, count calls, give a kernel a host version. Find the
 * functions with dlsym on the opened libcuda.so.1: the real driver does not have them.
 */
#ifndef VRAMSCOPE_SIMGPU_H
#define VRAMSCOPE_SIMGPU_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "simgpu 1 (CUDA 13000)": says that this libcuda.so.1 is the simulated one. */
const char* simgpu_version(void);

/* The nth call of `name` from now on (1 is the next; 0 is each) answers `code` and does nothing.
 * `name` is the exported name, cuMemAlloc_v2. Returns 0, or -1 if nothing of that name is exported.
 */
int simgpu_set_fault(const char* name, unsigned long long nth, int code);
void simgpu_clear_faults(void);

/* How often the exported name was called, failures included. ~0 if nothing of that name is
 * exported. */
unsigned long long simgpu_call_count(const char* name);

/* Called when a call of an entry point ends, on the thread that made it, with the exported name and
 * what it answered. It may call nothing of the driver. Null takes it back. */
typedef void (*simgpu_observer)(const char* name, int result);
void simgpu_set_observer(simgpu_observer observer);

/* A kernel's host version: called once for each launch, in stream order, with copies of the
 * arguments. */
typedef void (*simgpu_kernel)(const unsigned grid[3], const unsigned block[3],
                              unsigned shared_bytes, void** arguments);

/* `name` is the kernel's symbol, mangled as the compiler did. A real driver knows the size of each
 * argument from the kernel's image; here the caller says it, because arguments are copied at the
 * launch. A null function takes it back. */
void simgpu_set_kernel(const char* name, simgpu_kernel function, size_t argument_count,
                       const size_t* argument_bytes);

/* Argument `pointer_argument` of the kernel (0 is the first) points at memory which it uses, as
 * many bytes as argument `bytes_argument`, a size_t, says; both are known to simgpu_set_kernel.
 * Returns 0, or -1 if they are not. Of any other argument of 8 bytes one byte counts as used, where
 * it points. */
int simgpu_set_kernel_range(const char* name, size_t pointer_argument, size_t bytes_argument);

/* A __device__ or __managed__ variable of that name has so many bytes in images loaded from now on.
 * A real driver reads it in the image. Of two sizes for one name the larger counts. */
void simgpu_set_variable_bytes(const char* name, size_t bytes);

/* How many uses of the range are still to come or under way: reads and writes by what is queued or
 * runs in any stream of any context. Each range that a copy, a fill, a kernel or a node of a
 * launched graph touches is one. Waits for nothing. 0 for memory that has just been allocated: else
 * somebody handed it out too early. */
unsigned long long simgpu_pending_uses(unsigned long long address, size_t bytes);

/* The same, and the first of them in words; without one, `text` is left alone. */
unsigned long long simgpu_describe_pending_use(unsigned long long address, size_t bytes, char* text,
                                               size_t room);

#ifdef __cplusplus
}
#endif
#endif
