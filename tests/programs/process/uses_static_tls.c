/* tests/programs/process/uses_static_tls.c — needs static_tls.c's storage.
 *
 * It also has a thread with the smallest stack. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>

char* static_tls(void);

static void* touch(void* unused)
{
    static_tls()[0] = 1;
    return unused;
}

int main(void)
{
    pthread_attr_t smallest;
    pthread_t thread;
    pthread_attr_init(&smallest);
    pthread_attr_setstacksize(&smallest, PTHREAD_STACK_MIN);
    const int error = pthread_create(&thread, &smallest, touch, NULL);
    if (!error)
        pthread_join(thread, NULL);
    printf("%d\n", error);
    return 0;
}
