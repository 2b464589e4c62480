// tests/programs/go/main.go — a Go program that uses the driver by cgo, as Go's CUDA bindings do.
//
// Goroutines allocate and free on whichever thread the scheduler gives them; signals of Go's own
// preempt them; one block is left. Ends with status 3.
package main

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stddef.h>

static void *driver;

static int init(void)
{
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    return driver ? ((int (*)(unsigned))dlsym(driver, "cuInit"))(0) : -1;
}

static int use_device(void)
{
    void *context = NULL;
    const int error = ((int (*)(void **, int))dlsym(driver, "cuDevicePrimaryCtxRetain"))(&context, 0);
    return error ? error : ((int (*)(void *))dlsym(driver, "cuCtxSetCurrent"))(context);
}

static int allocate(unsigned long long *block, size_t bytes)
{
    return ((int (*)(unsigned long long *, size_t))dlsym(driver, "cuMemAlloc_v2"))(block, bytes);
}

static int release(unsigned long long block)
{
    return ((int (*)(unsigned long long))dlsym(driver, "cuMemFree_v2"))(block);
}
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"sync"
)

func check(result C.int) {
	if result != 0 {
		fmt.Println("the driver answered", result)
		os.Exit(1)
	}
}

func work(times int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	check(C.use_device())
	for i := 0; i < times; i++ {
		var block C.ulonglong
		check(C.allocate(&block, 4096))
		check(C.release(block))
	}
}

func leak() {
	runtime.LockOSThread()
	var block C.ulonglong
	check(C.use_device())
	check(C.allocate(&block, 12345))
}

func main() {
	check(C.init())
	var all sync.WaitGroup
	for i := 0; i < 64; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			work(100)
		}()
	}
	for i := 0; i < 20; i++ {
		runtime.GC()
	}
	all.Wait()
	leak()
	fmt.Println("64 goroutines done")
	os.Exit(3)
}
