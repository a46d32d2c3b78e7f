/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ascgrad check RotaryMulGrad` runs. * stands for fp32, fp16 and bf16. The kernel is that of
 * RotaryPositionEmbeddingGrad in mode 0, whose rows are many; these see to the other order of inputs.
 */

/* the typical cases, shortened */
CASE("RotaryMulGrad", "x=*[2,64,5,128] r1=*[1,64,1,128] r2=*[1,64,1,128] dy=*[2,64,5,128]")
CASE("RotaryMulGrad", "x=*[64,2,5,128] r1=*[64,1,1,128] r2=*[64,1,1,128] dy=*[64,2,5,128]")
CASE("RotaryMulGrad", "x=*[32,4,32,64] r1=*[32,4,1,64] r2=*[32,4,1,64] dy=*[32,4,32,64]")
CASE("RotaryMulGrad", "x=*[2,2,5,128] r1=*[1,2,1,128] r2=*[1,2,1,128] dy=*[2,2,5,128]")

/* every subset of summed axes */
CASE("RotaryMulGrad", "x=*[3,4,5,48] r1=*[3,4,5,48] r2=*[3,4,5,48] dy=*[3,4,5,48]")
CASE("RotaryMulGrad", "x=*[3,4,5,48] r1=*[1,4,5,48] r2=*[1,4,5,48] dy=*[3,4,5,48]")
CASE("RotaryMulGrad", "x=*[3,4,5,48] r1=*[3,1,5,48] r2=*[3,1,5,48] dy=*[3,4,5,48]")
CASE("RotaryMulGrad", "x=*[3,4,5,48] r1=*[1,1,5,48] r2=*[1,1,5,48] dy=*[3,4,5,48]")
CASE("RotaryMulGrad", "x=*[3,4,5,48] r1=*[3,4,1,48] r2=*[3,4,1,48] dy=*[3,4,5,48]")
CASE("RotaryMulGrad", "x=*[3,4,5,48] r1=*[1,4,1,48] r2=*[1,4,1,48] dy=*[3,4,5,48]")
CASE("RotaryMulGrad", "x=*[3,4,5,48] r1=*[3,1,1,48] r2=*[3,1,1,48] dy=*[3,4,5,48]")
CASE("RotaryMulGrad", "x=*[3,4,5,48] r1=*[1,1,1,48] r2=*[1,1,1,48] dy=*[3,4,5,48]")
CASE("RotaryMulGrad", "x=*[7,3,64] r1=*[7,3,64] r2=*[7,3,64] dy=*[7,3,64]")
CASE("RotaryMulGrad", "x=*[7,3,64] r1=*[1,3,64] r2=*[1,3,64] dy=*[7,3,64]")
CASE("RotaryMulGrad", "x=*[7,3,64] r1=*[7,1,64] r2=*[7,1,64] dy=*[7,3,64]")
CASE("RotaryMulGrad", "x=*[7,3,64] r1=*[1,1,64] r2=*[1,1,64] dy=*[7,3,64]")

/* row lengths */
CASE("RotaryMulGrad", "x=*[2,3,2,2] r1=*[1,3,1,2] r2=*[1,3,1,2] dy=*[2,3,2,2]")
CASE("RotaryMulGrad", "x=*[2,3,2,6] r1=*[1,3,1,6] r2=*[1,3,1,6] dy=*[2,3,2,6]")
CASE("RotaryMulGrad", "x=*[2,3,2,8] r1=*[1,3,1,8] r2=*[1,3,1,8] dy=*[2,3,2,8]")
CASE("RotaryMulGrad", "x=*[2,3,2,40] r1=*[1,3,1,40] r2=*[1,3,1,40] dy=*[2,3,2,40]")
CASE("RotaryMulGrad", "x=*[2,3,2,64] r1=*[1,3,1,64] r2=*[1,3,1,64] dy=*[2,3,2,64]")
CASE("RotaryMulGrad", "x=*[2,3,2,80] r1=*[1,3,1,80] r2=*[1,3,1,80] dy=*[2,3,2,80]")
CASE("RotaryMulGrad", "x=*[2,3,2,128] r1=*[1,3,1,128] r2=*[1,3,1,128] dy=*[2,3,2,128]")
CASE("RotaryMulGrad", "x=*[2,3,2,130] r1=*[1,3,1,130] r2=*[1,3,1,130] dy=*[2,3,2,130]")
CASE("RotaryMulGrad", "x=*[2,3,2,896] r1=*[1,3,1,896] r2=*[1,3,1,896] dy=*[2,3,2,896]")
CASE("RotaryMulGrad", "x=*[2,3,2,1024] r1=*[1,3,1,1024] r2=*[1,3,1,1024] dy=*[2,3,2,1024]")
CASE("RotaryMulGrad", "x=*[2,3,2,2050] r1=*[1,3,1,2050] r2=*[1,3,1,2050] dy=*[2,3,2,2050]")

/* long sums */
CASE("RotaryMulGrad", "x=*[32,64,8] r1=*[1,1,8] r2=*[1,1,8] dy=*[32,64,8]")
CASE("RotaryMulGrad", "x=*[2048,2,16] r1=*[1,2,16] r2=*[1,2,16] dy=*[2048,2,16]")
CASE("RotaryMulGrad", "x=*[1500,1,72] r1=*[1,1,72] r2=*[1,1,72] dy=*[1500,1,72]")

/* cores that only sum */
CASE("RotaryMulGrad", "x=*[8,1,32,128] r1=*[1,1,1,128] r2=*[1,1,1,128] dy=*[8,1,32,128]")
CASE("RotaryMulGrad", "x=*[8,32,1,64] r1=fp32[1,1,1,64] r2=fp32[1,1,1,64] dy=*[8,32,1,64]")

/* dx only: x is not looked at, dr1 and dr2 are 0 */
CASE("RotaryMulGrad", "x=*[2,3,4,6] r1=*[1,3,1,6] r2=*[1,3,1,6] dy=*[2,3,4,6] need_backward=false")
CASE("RotaryMulGrad", "x=*[2,3,4,64] r1=*[1,3,1,64] r2=*[1,3,1,64] dy=*[2,3,4,64] need_backward=false")
CASE("RotaryMulGrad", "x=*[2,3,4,128] r1=*[1,3,1,128] r2=*[1,3,1,128] dy=*[2,3,4,128] need_backward=false")
CASE("RotaryMulGrad", "x=*[2,3,4,128] r1=*[2,3,4,128] r2=*[2,3,4,128] dy=*[2,3,4,128] need_backward=false")

/* values, and nothing to do */
CASE("RotaryMulGrad", "x=*[2,3,4,32] r1=*[1,3,1,32] r2=*[1,3,1,32] dy=*[2,3,4,32] fill=ones")
CASE("RotaryMulGrad", "x=*[2,3,4,32] r1=*[1,3,1,32] r2=*[1,3,1,32] dy=*[2,3,4,32] fill=zeros")
CASE("RotaryMulGrad", "x=*[2,3,4,32] r1=*[1,3,1,32] r2=*[1,3,1,32] dy=*[2,3,4,32] fill=inf")
CASE("RotaryMulGrad", "x=*[2,3,4,32] r1=*[1,3,1,32] r2=*[1,3,1,32] dy=*[2,3,4,32] fill=nan")
CASE("RotaryMulGrad", "x=*[0,3,4,8] r1=*[1,3,1,8] r2=*[1,3,1,8] dy=*[0,3,4,8]")
CASE("RotaryMulGrad", "x=*[0,3,4,8] r1=*[1,3,1,8] r2=*[1,3,1,8] dy=*[0,3,4,8] need_backward=false")
CASE("RotaryMulGrad", "x=*[2,0,4,8] r1=*[1,0,1,8] r2=*[1,0,1,8] dy=*[2,0,4,8]")

/* Tables of fp32 beside 16-bit data: whole blocks, half blocks, none; turned halves; strips; a split sum; nothing to sum. */
CASE("RotaryMulGrad", "x=*[2,3,4,128] r1=fp32[1,3,1,128] r2=fp32[1,3,1,128] dy=*[2,3,4,128]")
CASE("RotaryMulGrad", "x=*[2,3,4,16] r1=fp32[2,3,1,16] r2=fp32[2,3,1,16] dy=*[2,3,4,16] fill=inf")
CASE("RotaryMulGrad", "x=*[2,3,4,10] r1=fp32[1,3,1,10] r2=fp32[1,3,1,10] dy=*[2,3,4,10]")
CASE("RotaryMulGrad", "x=*[3,7,5,34] r1=fp32[3,1,5,34] r2=fp32[3,1,5,34] dy=*[3,7,5,34]")
CASE("RotaryMulGrad", "x=*[2,33,4,40] r1=fp32[1,33,1,40] r2=fp32[1,33,1,40] dy=*[2,33,4,40]")
CASE("RotaryMulGrad", "x=*[2,3,2,3000] r1=fp32[1,3,1,3000] r2=fp32[1,3,1,3000] dy=*[2,3,2,3000]")
CASE("RotaryMulGrad", "x=*[4000,1,40] r1=fp32[1,1,40] r2=fp32[1,1,40] dy=*[4000,1,40]")
CASE("RotaryMulGrad", "x=*[3,5,6] r1=fp32[3,1,6] r2=fp32[3,1,6] dy=*[3,5,6] need_backward=false")

/* Partial rotary: rows that are whole blocks with their tails (GPT-NeoX, GLM, Phi), rows that are not; strips; a split sum. */
CASE("RotaryMulGrad", "x=*[2,3,4,64] r1=*[1,3,1,16] r2=*[1,3,1,16] dy=*[2,3,4,64]")
CASE("RotaryMulGrad", "x=*[2,3,4,128] r1=fp32[1,3,1,64] r2=fp32[1,3,1,64] dy=*[2,3,4,128]")
CASE("RotaryMulGrad", "x=*[2,33,4,80] r1=*[1,33,1,32] r2=*[1,33,1,32] dy=*[2,33,4,80]")
CASE("RotaryMulGrad", "x=*[2,3,4,96] r1=*[1,3,1,24] r2=*[1,3,1,24] dy=*[2,3,4,96]")
CASE("RotaryMulGrad", "x=*[2,3,4,80] r1=fp32[2,3,1,20] r2=fp32[2,3,1,20] dy=*[2,3,4,80]")
CASE("RotaryMulGrad", "x=*[3,4,7] r1=*[3,1,6] r2=*[3,1,6] dy=*[3,4,7]")
CASE("RotaryMulGrad", "x=*[5,3,9] r1=fp32[1,1,2] r2=fp32[1,1,2] dy=*[5,3,9]")
CASE("RotaryMulGrad", "x=*[3,4,64] r1=*[3,4,32] r2=*[3,4,32] dy=*[3,4,64] fill=nan")
CASE("RotaryMulGrad", "x=*[3,5,4000] r1=*[3,1,2000] r2=*[3,1,2000] dy=*[3,5,4000]")
CASE("RotaryMulGrad", "x=*[3,2,5003] r1=fp32[1,2,16] r2=fp32[1,2,16] dy=*[3,2,5003]")
CASE("RotaryMulGrad", "x=*[3,5,1600] r1=*[3,1,48] r2=*[3,1,48] dy=*[3,5,1600] need_backward=false")
CASE("RotaryMulGrad", "x=*[600,1,64] r1=*[1,1,16] r2=*[1,1,16] dy=*[600,1,64]")
CASE("RotaryMulGrad", "x=*[0,3,64] r1=*[1,3,16] r2=*[1,3,16] dy=*[0,3,64]")

/* refusals */
REFUSE("RotaryMulGrad", "x=fp32[2,3,4,8] r1=fp32[1,3,1,8] r2=fp32[1,1,1,8] dy=fp32[2,3,4,8]", "r1 and r2 must have one shape, got [1,3,1,8] and [1,1,1,8]")
REFUSE("RotaryMulGrad", "x=fp32[2,3,4,8] r1=fp32[1,3,1,8] r2=fp32[1,3,1,8] dy=fp32[2,3,5,8]", "dy and x must have one shape, got [2,3,5,8] and [2,3,4,8]")
REFUSE("RotaryMulGrad", "x=fp32[2,3,4,8] r1=fp32[3,1,8] r2=fp32[3,1,8] dy=fp32[2,3,4,8]", "dy and r1 must have one rank")
REFUSE("RotaryMulGrad", "x=fp32[2,3,4,8] r1=fp32[1,3,1,10] r2=fp32[1,3,1,10] dy=fp32[2,3,4,8]", "the last dimension of r1 must be 2 to that of dy, got 10 and 8")
REFUSE("RotaryMulGrad", "x=fp32[2,3,4,8] r1=fp32[1,3,1,0] r2=fp32[1,3,1,0] dy=fp32[2,3,4,8]", "the last dimension of r1 must be 2 to that of dy, got 0 and 8")
REFUSE("RotaryMulGrad", "x=fp32[2,3,4,8] r1=fp32[1,3,1,5] r2=fp32[1,3,1,5] dy=fp32[2,3,4,8]", "the last dimension of r1 must be a multiple of 2, got 5")
REFUSE("RotaryMulGrad", "x=fp32[2,3,4,8] r1=fp32[2,3,2,8] r2=fp32[2,3,2,8] dy=fp32[2,3,4,8]", "dimension 2 of r1 must be 1 or that of dy, got 2 and 4")
REFUSE("RotaryMulGrad", "x=fp32[2,3,4,5] r1=fp32[1,3,1,5] r2=fp32[1,3,1,5] dy=fp32[2,3,4,5]", "must be a multiple of 2, got 5")
REFUSE("RotaryMulGrad", "x=fp32[2,3,4,8] r1=fp32[1,3,1,8] r2=fp32[1,3,1,8] dy=fp16[2,3,4,8]", "x and dy must have one dtype, got fp32 and fp16")
REFUSE("RotaryMulGrad", "x=fp16[2,3,4,8] r1=bf16[1,3,1,8] r2=bf16[1,3,1,8] dy=fp16[2,3,4,8]", "r1 must be fp16 or fp32 beside x of fp16, got bf16")
REFUSE("RotaryMulGrad", "x=fp32[2,3,4,8] r1=fp16[1,3,1,8] r2=fp16[1,3,1,8] dy=fp32[2,3,4,8]", "r1 must be fp32 beside x of fp32, got fp16")
REFUSE("RotaryMulGrad", "x=bf16[2,3,4,8] r1=fp32[1,3,1,8] r2=bf16[1,3,1,8] dy=bf16[2,3,4,8]", "r1 and r2 must have one dtype, got fp32 and bf16")
REFUSE("RotaryMulGrad", "x=bf16[2,3,4,8] r1=fp32[1,3,1,8] r2=fp32[1,3,1,8] dy=fp32[2,3,4,8]", "x and dy must have one dtype, got bf16 and fp32")

/* for the clock of a chip: `ascgrad accept` */
#ifdef LARGE
LARGE("RotaryMulGrad", "x=*[1,4096,16,128] r1=*[1,4096,1,128] r2=*[1,4096,1,128] dy=*[1,4096,16,128]")
LARGE("RotaryMulGrad", "x=*[512,4,32,64] r1=*[512,4,1,64] r2=*[512,4,1,64] dy=*[512,4,32,64] need_backward=false")
#endif
