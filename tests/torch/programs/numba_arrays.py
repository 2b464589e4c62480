# tests/torch/programs/numba_arrays.py — arrays by Numba, which finds the driver's functions by
# dlsym and calls them by ctypes.
import numpy
from numba import cuda
from numba.cuda.cudadrv.driver import driver

kept = [cuda.to_device(numpy.zeros(1 << 20, dtype=numpy.float32)) for _ in range(4)]
dropped = cuda.device_array((1024, 1024))
del dropped
pinned = cuda.pinned_array(1000)
managed = cuda.managed_array(4096, dtype=numpy.uint8)
host = kept[0].copy_to_host()
stream = cuda.stream()
with cuda.defer_cleanup():
    again = cuda.to_device(host, stream=stream)
stream.synchronize()
context = cuda.current_context()
context.memory_manager.deallocations.clear()  # Numba gives back later, and several at once
print(driver.get_version(), cuda.gpus[0].name, host.sum(), again.nbytes, pinned.nbytes, managed.nbytes)
print(context.get_memory_info().total, cuda.get_current_device().compute_capability)
