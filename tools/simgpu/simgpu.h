/* tools/simgpu/simgpu.h — what the simulated libcuda.so.1 exports beside cu*.
 *
 * It is a C API for tests: it makes an entry point fail, counts calls and gives a kernel a host
 * version. Find its functions with dlsym in the opened libcuda.so.1: a real driver does not have
 * them.
 */
#ifndef VRAMSCOPE_SIMGPU_H
#define VRAMSCOPE_SIMGPU_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "simgpu 1 (CUDA 13000)": this libcuda.so.1 is the simulated one. */
const char* simgpu_version(void);

/* The nth call of `name` from now on (1 is the next one, 0 is every one) answers `code` and does
 * nothing. `name` is the exported name: cuMemAlloc_v2. Returns 0, or -1 if that is not exported. */
int simgpu_set_fault(const char* name, unsigned long long nth, int code);
void simgpu_clear_faults(void);

/* How often the exported name was called, failures included; ~0 if it is not exported. */
unsigned long long simgpu_call_count(const char* name);

/* The observer is called when a call of an entry point ends, on the thread that made it, with the
 * exported name and the result. It must not call the driver. A null pointer removes it. */
typedef void (*simgpu_observer)(const char* name, int result);
void simgpu_set_observer(simgpu_observer observer);

/* The host version of a kernel. It is called once for each launch, in stream order, with copies of
 * the arguments. */
typedef void (*simgpu_kernel)(const unsigned grid[3], const unsigned block[3],
                              unsigned shared_bytes, void** arguments);

/* `name` is the kernel's symbol, mangled as the compiler did. A real driver knows the size of each
 * argument from the kernel's image; here the caller says it, because arguments are copied at the
 * launch. A null function removes the host version. */
void simgpu_set_kernel(const char* name, simgpu_kernel function, size_t argument_count,
                       const size_t* argument_bytes);

/* The kernel uses the memory that its argument `pointer_argument` (0 is the first) points at, as
 * many bytes as its argument `bytes_argument`, a size_t, says. Returns 0, or -1 if
 * simgpu_set_kernel was not told of both arguments. Any other argument of 8 bytes counts as a use
 * of one byte, where it points. */
int simgpu_set_kernel_range(const char* name, size_t pointer_argument, size_t bytes_argument);

/* A __device__ or __managed__ variable of that name has so many bytes in images that are loaded
 * from now on. A real driver reads the size in the image. If two sizes are set, the larger one
 * counts. */
void simgpu_set_variable_bytes(const char* name, size_t bytes);

/* How many reads and writes of the range are still to come or under way, by work that is queued or
 * running in any stream of any context. Each range that a copy, a fill, a kernel or a node of a
 * launched graph touches counts as one. The call waits for nothing. The answer is 0 for memory that
 * has just been allocated; otherwise it was handed out too early. */
unsigned long long simgpu_pending_uses(unsigned long long address, size_t bytes);

/* The same, and the first of them in words. If there is none, `text` is left as it is. */
unsigned long long simgpu_describe_pending_use(unsigned long long address, size_t bytes, char* text,
                                               size_t room);

#ifdef __cplusplus
}
#endif
#endif
