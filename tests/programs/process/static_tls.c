/* tests/programs/process/static_tls.c — a library with static thread-local storage.
 *
 * The storage must be there from the start.
 */
static __thread char storage[6000] __attribute__((tls_model("initial-exec")));

char* static_tls(void)
{
    return storage;
}
