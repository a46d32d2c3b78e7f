/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ascgrad check RotaryPositionEmbeddingGrad` runs. * stands for fp32, fp16 and bf16. The reductions that the names
 * BSND, BNSD, SBND and TND stand for are subsets of axes; all of them are here.
 */

/* every mode, every subset of summed axes */
CASE("RotaryPositionEmbeddingGrad", "dy=*[3,4,5,32] cos=*[?,?,?,.] sin=cos x=dy mode=0|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[6,3,32] cos=*[?,?,.] sin=cos x=dy mode=0|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[3,4,5,16] cos=*[?,?,?,.] sin=cos x=dy mode=1")
CASE("RotaryPositionEmbeddingGrad", "dy=*[6,3,16] cos=*[?,?,.] sin=cos x=dy mode=1")
CASE("RotaryPositionEmbeddingGrad", "dy=*[3,4,5,64] cos=*[?,?,?,.] sin=cos x=dy mode=2")
CASE("RotaryPositionEmbeddingGrad", "dy=*[6,3,64] cos=*[?,?,.] sin=cos x=dy mode=2")

/* other ranks, and axes of size 1 in both */
CASE("RotaryPositionEmbeddingGrad", "dy=*[8] cos=*[.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[5,8] cos=*[1,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[1,7,1,8] cos=*[1,.,1,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,3,2,3,16] cos=*[.,1,.,1,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,1,3,2,5,8] cos=*[.,1,1,.,.,.] sin=cos x=dy mode=0")

/* row lengths: one pair, around 32-byte blocks, around a repeat, long, in strips */
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,3,2,2|6|10|130|1022] cos=*[1,.,1,.] sin=cos x=dy mode=0|1|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,2,3,2|6|10|130] cos=*[1,1,.,.] sin=cos x=dy mode=0|1|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,3,2,20|40|72|80|256|2048] cos=*[1,.,1,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,2,3,20|40|72|80|256] cos=*[1,1,.,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,3,1,3080] cos=*[1,.,1,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,3,2,4|8|12|132|1024] cos=*[1,.,1,.] sin=cos x=dy mode=2")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,2,3,4|8|12|132] cos=*[1,1,.,.] sin=cos x=dy mode=2")
CASE("RotaryPositionEmbeddingGrad", "dy=*[3,5002] cos=*[1,.] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[3,5002] cos=*[.,.] sin=cos x=dy mode=1")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,2,5000] cos=*[1,.,.] sin=cos x=dy mode=2")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,2,5002] cos=*[1,.,.] sin=cos x=dy mode=3")

/* without x: dcos and dsin are 0 */
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,3,2,4|12|64|72|3000] cos=*[1,.,1,.] sin=cos mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[9,64,8] cos=*[1,.,.] sin=cos mode=0|1|2|3")

/* more rows than a tile; tiles of several keys; several keys of several slabs in one row */
CASE("RotaryPositionEmbeddingGrad", "dy=*[1,3,61,128] cos=*[1,.,1,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,37,5,64] cos=*[1,.,1,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[3,11,40,24] cos=*[1,1,.,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[40,3,2,16] cos=*[.,1,.,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[100,96] cos=*[.,.] sin=cos x=dy mode=0|1|2|3")

/* long sums: several levels, and sums that are spread over the cores */
CASE("RotaryPositionEmbeddingGrad", "dy=*[900,4,64] cos=*[1,1,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[700,3,40] cos=*[1,.,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[300,2,4,36] cos=*[1,.,1,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[3,1100,36] cos=*[.,1,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[90,1,2080] cos=*[1,1,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[20000,8] cos=*[1,.] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[20000,6] cos=*[1,.] sin=cos x=dy mode=1")

/* few rows of dy for a row of cos, so that the cores meet: rows of cos last; several rows of cos; wide tables; tails;
 * zeros, signs */
CASE("RotaryPositionEmbeddingGrad", "dy=*[8,1,32,64|128] cos=*[1,1,1,.] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[3,1,100,96] cos=*[1,1,1,.] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[1,300,256] cos=*[1,1,.] sin=cos x=dy mode=2")
CASE("RotaryPositionEmbeddingGrad", "dy=*[200,2,64] cos=*[1,.,.] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,256,64] cos=*[.,1,.] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[8,1,32,128] cos=fp32[1,1,1,.] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[8,1,32,128] cos=*[1,1,1,64] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[1,256,64] cos=*[1,1,.] sin=cos x=dy mode=0 fill=zeros")
CASE("RotaryPositionEmbeddingGrad", "dy=*[1,129,128] cos=*[1,1,.] sin=cos x=dy mode=2 fill=inf")

/* values: cancelling, equal, zero, infinite, not a number */
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,3,4,24] cos=*[1,.,1,.] sin=cos x=dy mode=0|1|2|3 fill=inf|nan|ones|small|zeros")

/* nothing to do: dx is empty, and what is summed over no rows is 0 */
CASE("RotaryPositionEmbeddingGrad", "dy=*[0,3,4,8] cos=*[1,.,1,.] sin=cos ?x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,0,4,8] cos=*[1,.,1,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,3,4,0] cos=*[1,.,1,.] sin=cos x=dy mode=0|1|2|3")

/* the contiguous path: tiles that repeat cos by blocks, by words and blocks, not at all; of one row of cos */
CASE("RotaryPositionEmbeddingGrad", "dy=*[1,304,32,72] cos=*[1,.,1,.] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,110,32,100] cos=*[1,.,1,.] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[1,24,300,100] cos=*[1,1,.,.] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[1,2,9000,88] cos=*[1,.,1,.] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[1,267,32,16] cos=*[1,.,1,.] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[1,167,24,36] cos=*[1,.,1,.] sin=cos x=dy mode=3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[3,777,4] cos=*[.,1,.] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[5,999,6] cos=*[.,1,.] sin=cos x=dy mode=3")

/* the contiguous path: groups, whole and not; few rows for a row of cos; little in an outer step; steps that end inside
 * blocks, joined; halves of odd length */
CASE("RotaryPositionEmbeddingGrad", "dy=*[40,32,20] cos=*[.,1,.] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[40,32,36] cos=*[.,1,.] sin=cos mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[9,14,20] cos=*[.,1,.] sin=cos x=dy mode=0 fill=nan")
CASE("RotaryPositionEmbeddingGrad", "dy=*[13,11,18] cos=*[.,1,.] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[33,5,66] cos=*[.,1,.] sin=cos x=dy mode=3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[8,7,10] cos=*[.,1,.] sin=cos x=dy mode=1")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,31,4,3,8] cos=*[1,1,.,1,.] sin=cos x=dy mode=3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,31,4,3,12] cos=*[1,1,.,1,.] sin=cos x=dy mode=2")
CASE("RotaryPositionEmbeddingGrad", "dy=*[17,257,12] cos=*[1,.,.] sin=cos x=dy mode=3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[21,33,60] cos=*[1,.,.] sin=cos x=dy mode=2")
CASE("RotaryPositionEmbeddingGrad", "dy=*[33,63,18] cos=*[1,.,.] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,40,33,16] cos=*[.,1,.,.] sin=cos x=dy mode=0")

/* Tables of fp32 beside 16-bit data. */
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,5,3,20|64] cos=fp32[1,.,1,.] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,5,3,52] cos=fp32[1,.,1,.] sin=cos x=dy mode=0|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,5,3,18] cos=fp32[1,.,1,.] sin=cos x=dy mode=1")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,3,2,3000] cos=fp32[1,.,1,.] sin=cos x=dy mode=1")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,3,2,3004] cos=fp32[1,.,1,.] sin=cos x=dy mode=2")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,3,2,3002] cos=fp32[1,.,1,.] sin=cos x=dy mode=3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[500,33,24] cos=fp32[1,1,.] sin=cos x=dy mode=1")
CASE("RotaryPositionEmbeddingGrad", "dy=*[5,33,24] cos=fp32[.,.,.] sin=cos mode=1 fill=nan")

/* Partial rotary. */
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,5,3,64] cos=*[1,.,1,32] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,5,3,128] cos=fp32[1,.,1,64] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,5,3,50] cos=*[1,.,1,20] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,5,3,33] cos=fp32[1,.,1,12] sin=cos x=dy mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[3,2,2500] cos=*[.,1,1800] sin=cos mode=0|1|2|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[3,40,64] cos=*[.,.,16] sin=cos x=dy mode=1 fill=inf")
/* Enough of it for the contiguous path: GPT-NeoX, the last columns of StableLM's rows, two rotations, segments, no sums. */
CASE("RotaryPositionEmbeddingGrad", "dy=*[1,192,64,96] cos=*[1,.,1,24] sin=cos x=dy mode=0")
CASE("RotaryPositionEmbeddingGrad", "dy=*[1,192,64,80] cos=fp32[1,.,1,20] sin=cos x=dy mode=0 slice_start=48")
CASE("RotaryPositionEmbeddingGrad", "dy=*[1,96,64,64] cos=*[1,.,1,12] sin=cos x=dy mode=2 fill=inf")
CASE("RotaryPositionEmbeddingGrad", "dy=*[6144,32] cos=*[1,4] sin=cos x=dy mode=0 slice_start=16")
CASE("RotaryPositionEmbeddingGrad", "dy=*[6144,32] cos=*[.,4] sin=cos mode=0 fill=nan")
/* The rotated columns begin further on: at blocks (DeepSeek's last 64 of 192), inside blocks, at odd places, in strips. */
CASE("RotaryPositionEmbeddingGrad", "dy=*[1,7,5,192] cos=*[1,.,1,64] sin=cos mode=0|1|2|3 slice_start=64|128")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,5,3,192] cos=fp32[1,.,1,64] sin=cos x=dy mode=0|1|2|3 slice_start=128")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,5,3,64] cos=*[1,.,1,32] sin=cos x=dy mode=0|1|2|3 slice_start=8|9|32")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,3,5,50] cos=*[.,1,1,20] sin=cos x=dy mode=0|1|2|3 slice_start=7|30")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,5,3,33] cos=fp32[1,.,1,12] sin=cos x=dy mode=0|1|2|3 slice_start=1|21")
CASE("RotaryPositionEmbeddingGrad", "dy=*[3,2,2500] cos=*[.,1,1800] sin=cos mode=0|1|2|3 slice_start=5|512|700")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,2,9000] cos=*[1,.,64] sin=cos x=dy mode=0|1|2|3 slice_start=8000")
CASE("RotaryPositionEmbeddingGrad", "dy=*[1,700,192] cos=*[1,1,64] sin=cos x=dy mode=0|1|3 slice_start=128")
CASE("RotaryPositionEmbeddingGrad", "dy=*[40,3,64] cos=*[.,.,16] sin=cos x=dy mode=1 slice_start=48 fill=inf|nan")
CASE("RotaryPositionEmbeddingGrad", "dy=*[40,3,70] cos=*[.,1,16] sin=cos x=dy mode=1|3 slice_start=48 fill=nan")
/* sums of two rows of cos in groups that are packed, padded to a repeat */
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,1,32,4] cos=*[.,1,1,.] sin=cos x=dy mode=2")

/* what is summed does not begin at blocks, so that dx may be made apart: rows of cos first, last, of several slabs */
CASE("RotaryPositionEmbeddingGrad", "dy=*[16,63,5,20] cos=*[1,.,1,.] sin=cos x=dy mode=0|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[16,63,5,20] cos=*[1,.,1,.] sin=cos mode=1")
CASE("RotaryPositionEmbeddingGrad", "dy=*[3,1001,10] cos=*[.,1,.] sin=cos x=dy mode=0|1")
CASE("RotaryPositionEmbeddingGrad", "dy=*[12,729,36] cos=*[1,.,.] sin=cos x=dy mode=0|1|3")
CASE("RotaryPositionEmbeddingGrad", "dy=*[13,1045,22] cos=*[1,.,.] sin=cos mode=0|1")
CASE("RotaryPositionEmbeddingGrad", "dy=*[2,7,129,36] cos=*[.,1,.,.] sin=cos x=dy mode=1|2")
CASE("RotaryPositionEmbeddingGrad", "dy=bf16[5,1001,36] cos=fp32[1,.,.] sin=cos x=dy mode=0|1")

/* refusals */
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[2,3,4,8] cos=fp32[1,3,1,4] sin=fp32[1,3,1,4] mode=1 slice_start=5", "slice_start is 5, but must be between 0 and 4, the last dimension of dy less that of cos")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[2,3,4,8] cos=fp32[1,3,1,4] sin=fp32[1,3,1,4] mode=1 slice_start=-1", "slice_start is -1, but must be between 0 and 4")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[2,3,4,8] cos=fp32[1,3,1,8] sin=fp32[1,3,1,8] mode=1 slice_start=1", "slice_start is 1, but must be between 0 and 0")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[2,3,4,8] cos=fp32[1,3,1,8] sin=fp32[1,3,4,8] mode=0", "cos and sin must have one shape, got [1,3,1,8] and [1,3,4,8]")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[2,3,4,8] cos=fp32[1,3,1,8] sin=fp32[1,3,1,8] x=fp32[2,3,4,6] mode=0", "dy and x must have one shape, got [2,3,4,8] and [2,3,4,6]")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[2,3,4,8] cos=fp32[3,1,8] sin=fp32[3,1,8] mode=0", "dy and cos must have one rank, got [2,3,4,8] and [3,1,8]")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[2,3,4,8] cos=fp32[1,3,1,12] sin=fp32[1,3,1,12] mode=0", "the last dimension of cos must be 2 to that of dy, got 12 and 8")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[2,3,4,8] cos=fp32[1,3,1,6] sin=fp32[1,3,1,6] mode=2", "the last dimension of cos must be a multiple of 4, got 6")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[2,3,4,8] cos=fp32[1,2,1,8] sin=fp32[1,2,1,8] mode=0", "dimension 1 of cos must be 1 or that of dy, got 2 and 3")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[2,3,4,7] cos=fp32[1,3,1,7] sin=fp32[1,3,1,7] mode=0", "the last dimension of cos must be a multiple of 2, got 7")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[2,3,4,6] cos=fp32[1,3,1,6] sin=fp32[1,3,1,6] mode=2", "the last dimension of cos must be a multiple of 4, got 6")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[2,3,4,8] cos=fp32[1,3,1,8] sin=fp32[1,3,1,8] mode=4", "mode is 4, but must be 0 to 3")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[2,3,4,8] cos=fp32[1,3,1,8] sin=fp32[1,3,1,8] mode=-1", "mode is -1, but must be 0 to 3")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[2,3,4,8] cos=bf16[1,3,1,8] sin=bf16[1,3,1,8] mode=0", "cos must be fp16 or fp32 beside dy of fp16, got bf16")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[2,3,4,8] cos=fp32[1,3,1,8] sin=fp16[1,3,1,8] mode=0", "cos and sin must have one dtype, got fp32 and fp16")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[2,3,4,8] cos=bf16[1,3,1,8] sin=bf16[1,3,1,8] mode=0", "cos must be fp32 beside dy of fp32, got bf16")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp16[2,3,4,8] cos=fp16[1,3,1,8] sin=fp16[1,3,1,8] x=fp32[2,3,4,8] mode=0", "dy and x must have one dtype, got fp16 and fp32")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[] cos=fp32[] sin=fp32[] mode=0", "dy must have at least 1 dimension")
REFUSE("RotaryPositionEmbeddingGrad", "dy=fp32[2,3,2,3,2,8] cos=fp32[1,3,1,3,1,8] sin=fp32[1,3,1,3,1,8] mode=0", "alternate too often between kept and summed")

/* for the clock of a chip: `ascgrad accept` */
#ifdef LARGE
LARGE("RotaryPositionEmbeddingGrad", "dy=*[2,4096,8,128] cos=*[1,.,1,.] sin=cos x=dy mode=0")
LARGE("RotaryPositionEmbeddingGrad", "dy=*[2,8,4096,128] cos=*[1,1,.,.] sin=cos x=dy mode=1")
#endif
