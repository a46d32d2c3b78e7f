/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ascgrad check RotaryMulGrad` runs. * stands for fp32, fp16 and bf16. The kernel is that of
 * RotaryPositionEmbeddingGrad in mode 0, whose rows are many; these see to the other order of inputs.
 */

/* the typical cases, shortened */
CASE("RotaryMulGrad", "x=*[2,2|64,5,128] r1=*[1,.,1,.] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[64,2,5,128] r1=*[.,1,1,.] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[32,4,32,64] r1=*[.,.,1,.] r2=r1 dy=x")

/* every subset of summed axes */
CASE("RotaryMulGrad", "x=*[3,4,5,48] r1=*[?,?,?,.] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[7,3,64] r1=*[?,?,.] r2=r1 dy=x")

/* row lengths */
CASE("RotaryMulGrad", "x=*[2,3,2,2|6|8|40|64|80|128|130|896|1024|2050] r1=*[1,.,1,.] r2=r1 dy=x")

/* rows that end inside 32-byte blocks: on the first 910, gaps, strips with gaps, runs that begin inside blocks, segments */
CASE("RotaryMulGrad", "x=*[3,5,4,18|24|36|100|500] r1=*[1,.,1,.] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[3,4,5,34] r1=*[?,?,?,.] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[3,5,2062] r1=*[1,.,.] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[2,33,7,50] r1=*[1,.,1,.] r2=r1 dy=x need_backward=false")
CASE("RotaryMulGrad", "x=*[3000,1,20] r1=*[1,1,.] r2=r1 dy=x")

/* long sums */
CASE("RotaryMulGrad", "x=*[32,64,8] r1=*[1,1,.] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[2048,2,16] r1=*[1,.,.] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[1500,1,72] r1=*[1,1,.] r2=r1 dy=x")

/* few rows, one row of cos: the cores meet */
CASE("RotaryMulGrad", "x=*[8,1,32,128] r1=*[1,1,1,.] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[8,32,1,64] r1=fp32[1,1,1,.] r2=r1 dy=x")

/* dx only: x is not looked at, dr1 and dr2 are 0 */
CASE("RotaryMulGrad", "x=*[2,3,4,6|64|128] r1=*[1,.,1,.] r2=r1 dy=x need_backward=false")
CASE("RotaryMulGrad", "x=*[2,3,4,128] r1=*[.,.,.,.] r2=r1 dy=x need_backward=false")

/* values, and nothing to do */
CASE("RotaryMulGrad", "x=*[2,3,4,32] r1=*[1,.,1,.] r2=r1 dy=x fill=inf|nan|ones|zeros")
CASE("RotaryMulGrad", "x=*[0,3,4,8] r1=*[1,.,1,.] r2=r1 dy=x ?need_backward=false")
CASE("RotaryMulGrad", "x=*[2,0,4,8] r1=*[1,.,1,.] r2=r1 dy=x")

/* Tables of fp32 beside 16-bit data: whole blocks, half blocks, none; turned halves; strips; a split sum; nothing to sum. */
CASE("RotaryMulGrad", "x=*[2,3,4,10|128] r1=fp32[1,.,1,.] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[2,3,4,16] r1=fp32[.,.,1,.] r2=r1 dy=x fill=inf")
CASE("RotaryMulGrad", "x=*[3,7,5,34] r1=fp32[.,1,.,.] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[2,33,4,40] r1=fp32[1,.,1,.] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[2,3,2,3000] r1=fp32[1,.,1,.] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[4000,1,40] r1=fp32[1,1,.] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[3,5,6] r1=fp32[.,1,.] r2=r1 dy=x need_backward=false")

/* Partial rotary: rows that are whole blocks with their tails (GPT-NeoX, GLM, Phi), rows that are not; strips; a split sum. */
CASE("RotaryMulGrad", "x=*[2,3,4,64] r1=*[1,.,1,16] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[2,3,4,128] r1=fp32[1,.,1,64] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[2,33,4,80] r1=*[1,.,1,32] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[2,3,4,96] r1=*[1,.,1,24] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[2,3,4,80] r1=fp32[.,.,1,20] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[3,4,7] r1=*[.,1,6] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[5,3,9] r1=fp32[1,1,2] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[3,4,64] r1=*[.,.,32] r2=r1 dy=x fill=nan")
CASE("RotaryMulGrad", "x=*[3,5,4000] r1=*[.,1,2000] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[3,2,5003] r1=fp32[1,.,16] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[3,5,1600] r1=*[.,1,48] r2=r1 dy=x need_backward=false")
CASE("RotaryMulGrad", "x=*[600,1,64] r1=*[1,1,16] r2=r1 dy=x")
CASE("RotaryMulGrad", "x=*[0,3,64] r1=*[1,.,16] r2=r1 dy=x")

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
LARGE("RotaryMulGrad", "x=*[1,4096,16,128] r1=*[1,.,1,.] r2=r1 dy=x")
LARGE("RotaryMulGrad", "x=*[512,4,32,64] r1=*[.,.,1,.] r2=r1 dy=x need_backward=false")
#endif
