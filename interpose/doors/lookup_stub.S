// interpose/doors/lookup_stub.S — dlsym, dlvsym and dlopen.
//
// They must not stand between a caller and libc, which tells the caller by the return address
// (RTLD_NEXT, RTLD_DEFAULT, namespaces, RUNPATH). So the first two ask the filter and, where it has
// no answer of its own, jump to the next definition with the stack and the arguments as they came.
// dlopen always jumps; that RTLD_DEEPBIND was asked for is noted.
#if !defined(__x86_64__)
#error "written for x86-64"
#endif

        .text

// The stack is kept aligned to 16 bytes for the call. result: where the filter's answer goes.
        .globl  dlsym
        .type   dlsym, @function
dlsym:
        .cfi_startproc
        endbr64
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        subq    $24, %rsp
        .cfi_adjust_cfa_offset 24
        xorl    %edx, %edx                      // version: none
        movq    40(%rsp), %rcx                  // caller
        movq    %rsp, %r8                       // result
        call    vramscope_filter_lookup
        movl    %eax, %ecx
        movq    (%rsp), %rax
        addq    $24, %rsp
        .cfi_adjust_cfa_offset -24
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        testl   %ecx, %ecx
        je      1f
        ret
1:      jmp     *vramscope_next_dlsym(%rip)
        .cfi_endproc
        .size   dlsym, . - dlsym

        .globl  dlvsym
        .type   dlvsym, @function
dlvsym:
        .cfi_startproc
        endbr64
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        subq    $16, %rsp
        .cfi_adjust_cfa_offset 16
        movq    40(%rsp), %rcx                  // caller
        movq    %rsp, %r8                       // result
        call    vramscope_filter_lookup
        movl    %eax, %ecx
        movq    (%rsp), %rax
        addq    $16, %rsp
        .cfi_adjust_cfa_offset -16
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        testl   %ecx, %ecx
        je      1f
        ret
1:      jmp     *vramscope_next_dlvsym(%rip)
        .cfi_endproc
        .size   dlvsym, . - dlvsym

        .globl  dlopen
        .type   dlopen, @function
dlopen:
        .cfi_startproc
        endbr64
        testl   $8, %esi                        // RTLD_DEEPBIND
        jne     1f
        cmpq    $0, vramscope_next_dlopen(%rip)
        je      1f
        jmp     *vramscope_next_dlopen(%rip)
1:      pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    vramscope_note_dlopen
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        jmp     *vramscope_next_dlopen(%rip)
        .cfi_endproc
        .size   dlopen, . - dlopen

        .section .note.GNU-stack, "", @progbits
