/* interpose/vramscope.h — name phases and moments of a program for vramscope's report.
 *
 * Costs nothing and needs no library when the program is not traced: the symbols are weak. Any
 * thread; the text is copied. Ranges nest per thread, like NVTX push and pop, and a report shows
 * them in the same place ("epoch/step").
 *
 *     vramscope_range_push("epoch");  ...  vramscope_range_pop();  vramscope_point("weights
 * loaded");
 */
#ifndef VRAMSCOPE_H
#define VRAMSCOPE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Exported by libvramscope.so; null in a process without it. */
void vramscope_push(const char* name) __attribute__((weak));
void vramscope_pop(void) __attribute__((weak));
void vramscope_mark(const char* name) __attribute__((weak));

static inline void vramscope_range_push(const char* name)
{
    if (vramscope_push)
        vramscope_push(name);
}

static inline void vramscope_range_pop(void)
{
    if (vramscope_pop)
        vramscope_pop();
}

static inline void vramscope_point(const char* name)
{
    if (vramscope_mark)
        vramscope_mark(name);
}

#ifdef __cplusplus
}
#endif
#endif
