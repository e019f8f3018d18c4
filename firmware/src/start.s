@ Runs first after reset, before RAM is initialised (cortex-m-rt calls it): copies the vector table and the tick's code
@ to ITCM and the constants to DTCM. memory.x gives the places. All of them and their lengths are multiples of 8: the
@ error correction of ITCM works on 64 bits, so whole ones are written.
    .syntax unified
    .section .text.__pre_init, "ax"
    .global __pre_init
    .type __pre_init, %function
    .thumb_func
__pre_init:
    push {r4, lr}
    ldr r0, =__vector_table
    movs r1, #0
    mov.w r2, #0x400
    bl 2f
    ldr r0, =__lhot
    ldr r1, =__shot
    ldr r2, =__ehot
    bl 2f
    ldr r0, =__lconstants
    ldr r1, =__sconstants
    ldr r2, =__econstants
    bl 2f
    @ Exceptions find their handlers in ITCM: VTOR = 0.
    ldr r0, =0xE000ED08
    movs r1, #0
    str r1, [r0]
    dsb
    isb
    pop {r4, pc}
    @ Copy from r0 to r1, up to r2.
1:  ldrd r3, r4, [r0], #8
    strd r3, r4, [r1], #8
2:  cmp r1, r2
    blo 1b
    bx lr
    .size __pre_init, . - __pre_init
