/* SPDX-License-Identifier: Apache-2.0
 *
 * RopeGrad. Rows for `ascgrad check`.
 */
/* The public families: lengths 2,1,4,4 with tables of 11 to 128 rows; NaN and Inf are data like any other. */
CASE("RopeGrad", "q=*[11,128] k=q cos=*[11|128,.] sin=cos qSeqLen=2,1,4,4")
CASE("RopeGrad", "q=*[11,128] k=q cos=*[64,.] sin=cos qSeqLen=2,1,4,4 exact_grad=true")
CASE("RopeGrad", "q=fp16[11,128] k=q cos=fp16[11,.] sin=cos qSeqLen=2,1,4,4 fill=small")
CASE("RopeGrad", "q=*[11,128] k=q cos=*[64,.] sin=cos qSeqLen=2,1,4,4 ?exact_grad=true fill=inf|nan|ones|zeros")
/* Long enough for several blocks of positions and for sequences that share them. */
CASE("RopeGrad", "q=*[277,256] k=q cos=*[100,128] sin=cos qSeqLen=100,1,37,70,5,64 ?exact_grad=true")
CASE("RopeGrad", "q=*[323,192] k=*[323,64] cos=*[90,64] sin=cos qSeqLen=33,33,33,33,33,33,33,90,2 ?exact_grad=true")
/* Different numbers of heads, more heads than cores, more repeats than an instruction has, no heads at all. */
CASE("RopeGrad", "q=*[12,1024] k=*[12,256] cos=*[5,128] sin=cos qSeqLen=3,5,4")
CASE("RopeGrad", "q=*[12,256] k=*[12,1024] cos=*[5,128] sin=cos qSeqLen=3,5,4 exact_grad=true")
CASE("RopeGrad", "q=*[3,1024] k=*[3,656] cos=*[2,16] sin=cos qSeqLen=2,1")
CASE("RopeGrad", "q=*[3,4800] k=*[3,16] cos=*[2,16] sin=cos qSeqLen=2,1 ?exact_grad=true")
CASE("RopeGrad", "q=*[5,0] k=*[5,32] cos=*[3,16] sin=cos qSeqLen=3,2")
CASE("RopeGrad", "q=*[5,32] k=*[5,0] cos=*[3,16] sin=cos qSeqLen=3,2")
CASE("RopeGrad", "q=*[5,0] k=q cos=*[3,16] sin=cos qSeqLen=3,2")
/* A token that is wider than the UB, a head that is wider than the UB. */
CASE("RopeGrad", "q=*[3,25600] k=*[3,384] cos=*[2,128] sin=cos qSeqLen=2,1 ?exact_grad=true")
CASE("RopeGrad", "q=*[5,1024] k=q cos=*[3,.] sin=cos qSeqLen=3,2")
CASE("RopeGrad", "q=*[5,2052] k=*[5,1026] cos=*[3,1026] sin=cos qSeqLen=3,2 ?exact_grad=true")
CASE("RopeGrad", "q=*[2,2600] k=q cos=*[2,.] sin=cos qSeqLen=2 ?exact_grad=true")
/* Head sizes that are not multiples of 32 bytes, in whole or in half. */
CASE("RopeGrad", "q=*[12,6] k=*[12,2] cos=*[9,2] sin=cos qSeqLen=5,1,6 ?exact_grad=true")
CASE("RopeGrad", "q=*[12,8] k=*[12,4] cos=*[9,4] sin=cos qSeqLen=5,1,6 ?exact_grad=true")
CASE("RopeGrad", "q=*[12,12] k=*[12,6] cos=*[9,6] sin=cos qSeqLen=5,1,6 ?exact_grad=true")
CASE("RopeGrad", "q=*[12,20] k=*[12,10] cos=*[9,10] sin=cos qSeqLen=5,1,6 ?exact_grad=true")
CASE("RopeGrad", "q=*[12,32] k=*[12,16] cos=*[9,16] sin=cos qSeqLen=5,1,6 ?exact_grad=true")
CASE("RopeGrad", "q=*[12,60] k=*[12,30] cos=*[9,30] sin=cos qSeqLen=5,1,6 ?exact_grad=true")
CASE("RopeGrad", "q=*[12,96] k=*[12,48] cos=*[9,48] sin=cos qSeqLen=5,1,6 ?exact_grad=true")
CASE("RopeGrad", "q=*[12,144] k=*[12,72] cos=*[9,72] sin=cos qSeqLen=5,1,6 ?exact_grad=true")
CASE("RopeGrad", "q=*[12,160] k=*[12,80] cos=*[9,80] sin=cos qSeqLen=5,1,6 ?exact_grad=true")
CASE("RopeGrad", "q=*[12,260] k=*[12,130] cos=*[9,130] sin=cos qSeqLen=5,1,6 ?exact_grad=true")
CASE("RopeGrad", "q=*[12,1792] k=*[12,896] cos=*[9,896] sin=cos qSeqLen=5,1,6 ?exact_grad=true")
CASE("RopeGrad", "q=*[92,2] k=q cos=*[50,.] sin=cos qSeqLen=40,2,50")
CASE("RopeGrad", "q=*[92,30] k=*[92,10] cos=*[50,10] sin=cos qSeqLen=40,2,50 exact_grad=true")
/* The same with work enough for a gather: heads in pairs, fours and alone, tokens that end anywhere, tokens in pieces. */
CASE("RopeGrad", "q=*[92,1536] k=*[92,384] cos=*[40,24] sin=cos qSeqLen=40,3,40,7,2 ?exact_grad=true")
CASE("RopeGrad", "q=*[88,2376] k=*[88,72] cos=*[70,72] sin=cos qSeqLen=9,9,70 ?exact_grad=true")
CASE("RopeGrad", "q=*[91,2500] k=*[91,500] cos=*[41,100] sin=cos qSeqLen=30,20,41 ?exact_grad=true")
CASE("RopeGrad", "q=*[51,640] k=*[51,30] cos=*[40,10] sin=cos qSeqLen=9,40,2 ?exact_grad=true")
CASE("RopeGrad", "q=*[49,768] k=*[49,30] cos=*[40,6] sin=cos qSeqLen=9,40 ?exact_grad=true")
CASE("RopeGrad", "q=*[49,1024] k=*[49,16] cos=*[40,2] sin=cos qSeqLen=9,40 ?exact_grad=true")
CASE("RopeGrad", "q=*[3,26400] k=*[3,960] cos=*[2,24] sin=cos qSeqLen=2,1 ?exact_grad=true")
CASE("RopeGrad", "q=*[300,0] k=*[300,240] cos=*[200,40] sin=cos qSeqLen=100,200")
CASE("RopeGrad", "q=*[91,2500] k=*[91,500] cos=*[41,100] sin=cos qSeqLen=30,20,41 exact_grad=true fill=nan")
/* Tables in fp32 beside 16-bit data: w is not rounded then. */
CASE("RopeGrad", "q=*[11,128] k=q cos=fp32[4,.] sin=cos qSeqLen=2,1,4,4 ?exact_grad=true")
CASE("RopeGrad", "q=*[125,256] k=*[125,128] cos=fp32[90,64] sin=cos qSeqLen=33,90,2 ?exact_grad=true")
CASE("RopeGrad", "q=*[12,30] k=*[12,10] cos=fp32[6,10] sin=cos qSeqLen=5,1,6 ?exact_grad=true")
CASE("RopeGrad", "q=*[12,72] k=*[12,144] cos=fp32[6,.] sin=cos qSeqLen=5,1,6 ?exact_grad=true")
CASE("RopeGrad", "q=*[50,1536] k=*[50,72] cos=fp32[40,24] sin=cos qSeqLen=40,3,7 ?exact_grad=true")
CASE("RopeGrad", "q=*[50,2500] k=*[50,500] cos=fp32[30,100] sin=cos qSeqLen=30,20 ?exact_grad=true")
CASE("RopeGrad", "q=*[5,2052] k=*[5,1026] cos=fp32[3,1026] sin=cos qSeqLen=3,2 ?exact_grad=true")
CASE("RopeGrad", "q=*[11,128] k=q cos=fp32[4,.] sin=cos qSeqLen=2,1,4,4 exact_grad=true fill=nan")
/* Heads of which only the first columns are rotated: in place, in strips and gathered; GPT-NeoX-20B, Pythia, Phi-2, odd sizes. */
CASE("RopeGrad", "q=*[54,256] k=*[54,128] cos=*[40,32] sin=cos qSeqLen=5,9,40 head_size=128 ?exact_grad=true")
CASE("RopeGrad", "q=*[50,288] k=*[50,192] cos=*[30,24] sin=cos qSeqLen=30,20 head_size=96 ?exact_grad=true")
CASE("RopeGrad", "q=*[11,6144] k=q cos=*[9,24] sin=cos qSeqLen=9,2 head_size=96 ?exact_grad=true")
CASE("RopeGrad", "q=*[16,320] k=q cos=*[9,32] sin=cos qSeqLen=7,9 head_size=80 ?exact_grad=true")
CASE("RopeGrad", "q=*[56,240] k=*[56,80] cos=fp32[40,20] sin=cos qSeqLen=7,9,40 head_size=80 ?exact_grad=true")
CASE("RopeGrad", "q=*[50,2500] k=*[50,500] cos=*[30,50] sin=cos qSeqLen=30,20 head_size=100 ?exact_grad=true")
CASE("RopeGrad", "q=*[71,455] k=*[71,195] cos=*[41,10] sin=cos qSeqLen=30,41 head_size=65 ?exact_grad=true")
CASE("RopeGrad", "q=*[49,896] k=*[49,35] cos=fp32[40,4] sin=cos qSeqLen=9,40 head_size=7 ?exact_grad=true")
CASE("RopeGrad", "q=*[5,2060] k=*[5,1030] cos=*[3,1026] sin=cos qSeqLen=3,2 head_size=1030 ?exact_grad=true")
CASE("RopeGrad", "q=*[5,6000] k=*[5,3000] cos=*[3,64] sin=cos qSeqLen=3,2 head_size=3000 ?exact_grad=true")
CASE("RopeGrad", "q=*[5,5000] k=*[5,10000] cos=fp32[3,1000] sin=cos qSeqLen=3,2 head_size=5000 ?exact_grad=true")
CASE("RopeGrad", "q=*[91,512] k=*[91,128] cos=*[41,64] sin=cos qSeqLen=30,20,41 head_size=128 exact_grad=true fill=inf")
CASE("RopeGrad", "q=*[91,384] k=*[91,96] cos=*[41,24] sin=cos qSeqLen=30,20,41 head_size=96 exact_grad=true fill=nan")
CASE("RopeGrad", "q=*[91,4120] k=*[91,1030] cos=*[41,100] sin=cos qSeqLen=30,20,41 head_size=1030 exact_grad=true fill=nan")
CASE("RopeGrad", "q=*[5,64] k=q cos=*[3,.] sin=cos qSeqLen=3,2 head_size=64")
/* The rotated columns begin further on: in place (DeepSeek's last 64 of 192), in strips and gathered, at odd places, in the middle. */
CASE("RopeGrad", "q=*[50,384] k=*[50,192] cos=*[30,64] sin=cos qSeqLen=30,20 head_size=192 slice_start=16|128 ?exact_grad=true")
CASE("RopeGrad", "q=*[50,384] k=*[50,192] cos=*[30,64] sin=cos qSeqLen=30,20 head_size=192 slice_start=7|100 ?exact_grad=true")
CASE("RopeGrad", "q=*[50,288] k=*[50,192] cos=*[30,24] sin=cos qSeqLen=30,20 head_size=96 slice_start=1|2|72 ?exact_grad=true")
CASE("RopeGrad", "q=*[50,2500] k=*[50,500] cos=*[30,50] sin=cos qSeqLen=30,20 head_size=100 slice_start=50 ?exact_grad=true")
CASE("RopeGrad", "q=*[11,6144] k=q cos=*[9,24] sin=cos qSeqLen=9,2 head_size=96 slice_start=72 ?exact_grad=true")
CASE("RopeGrad", "q=*[71,455] k=*[71,195] cos=*[41,10] sin=cos qSeqLen=30,41 head_size=65 slice_start=55 ?exact_grad=true")
CASE("RopeGrad", "q=*[49,896] k=*[49,35] cos=fp32[40,4] sin=cos qSeqLen=9,40 head_size=7 slice_start=2|3 ?exact_grad=true")
CASE("RopeGrad", "q=*[5,2060] k=*[5,1030] cos=*[3,1026] sin=cos qSeqLen=3,2 head_size=1030 slice_start=3|4 ?exact_grad=true")
CASE("RopeGrad", "q=*[5,6000] k=*[5,3000] cos=*[3,64] sin=cos qSeqLen=3,2 head_size=3000 slice_start=1500 ?exact_grad=true")
CASE("RopeGrad", "q=*[5,5000] k=*[5,10000] cos=fp32[3,1000] sin=cos qSeqLen=3,2 head_size=5000 slice_start=4000 ?exact_grad=true")
CASE("RopeGrad", "q=*[3,4160] k=*[3,8580] cos=*[2,12] sin=cos qSeqLen=2,1 head_size=260 slice_start=248") /* gathered on one core */
CASE("RopeGrad", "q=*[5,0] k=*[5,3000] cos=*[3,64] sin=cos qSeqLen=3,2 head_size=3000 slice_start=2000")
CASE("RopeGrad", "q=*[91,576] k=*[91,192] cos=*[41,64] sin=cos qSeqLen=30,20,41 head_size=192 slice_start=128 exact_grad=true fill=inf|nan")
CASE("RopeGrad", "q=*[91,384] k=*[91,96] cos=*[41,24] sin=cos qSeqLen=30,20,41 head_size=96 slice_start=40 exact_grad=true fill=nan")
/* Sequences that start anywhere: continued ones, two pieces of each (context parallel), all at one place, far apart, one behind the other, empty. */
CASE("RopeGrad", "q=*[11,128] k=q cos=*[64,.] sin=cos qSeqLen=2,1,4,4 start_positions=0,7,60,3 ?exact_grad=true")
CASE("RopeGrad", "q=*[277,256] k=q cos=*[200,128] sin=cos qSeqLen=100,1,37,70,5,64 start_positions=100,199,0,130,9,64 ?exact_grad=true")
CASE("RopeGrad", "q=*[160,192] k=*[160,64] cos=*[256,64] sin=cos qSeqLen=32,32,8,8,40,40 start_positions=32,192,8,48,40,200 ?exact_grad=true")
CASE("RopeGrad", "q=*[323,192] k=*[323,64] cos=*[100,64] sin=cos qSeqLen=33,33,33,33,33,33,33,90,2 start_positions=9,9,9,9,9,9,9,9,9 ?exact_grad=true")
CASE("RopeGrad", "q=*[12,72] k=*[12,144] cos=fp32[3000,.] sin=cos qSeqLen=5,1,6 start_positions=2000,0,2994 ?exact_grad=true")
CASE("RopeGrad", "q=*[92,1536] k=*[92,384] cos=*[400,24] sin=cos qSeqLen=40,3,40,7,2 start_positions=360,0,17,200,203 ?exact_grad=true")
CASE("RopeGrad", "q=*[91,2500] k=*[91,500] cos=*[141,100] sin=cos qSeqLen=30,20,41 start_positions=111,0,100 ?exact_grad=true")
CASE("RopeGrad", "q=*[300,64] k=*[300,32] cos=*[300,16] sin=cos qSeqLen=100,200 start_positions=200,0 ?exact_grad=true")
CASE("RopeGrad", "q=*[5,2052] k=*[5,1026] cos=*[9,1026] sin=cos qSeqLen=3,2 start_positions=6,1 ?exact_grad=true")
CASE("RopeGrad", "q=*[5,64] k=q cos=*[9,.] sin=cos qSeqLen=0,3,0,0,2,0 start_positions=9,6,0,1,2,3")
CASE("RopeGrad", "q=*[5,64] k=q cos=*[3,.] sin=cos qSeqLen=3,2 start_positions=0,0")
CASE("RopeGrad", "q=*[5,64] k=q cos=*[3,.] sin=cos qSeqLen=3,2 start_positions=")
CASE("RopeGrad", "q=*[92,384] k=*[92,192] cos=*[128,64] sin=cos qSeqLen=40,2,50 start_positions=88,10,0 head_size=192 slice_start=128 exact_grad=true fill=nan")
CASE("RopeGrad", "q=*[105,32] k=q cos=*[70,.] sin=cos qSeqLen=2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1 start_positions=3,8,13,18,23,28,33,38,43,48,53,58,63,68,6,11,16,21,26,31,36,41,46,51,56,61,66,4,9,14,19,24,29,34,39,44,49,54,59,64,2,7,12,17,22,27,32,37,42,47,52,57,62,67,5,10,15,20,25,30,35,40,45,50,55,60,65,3,8,13")
/* Sequences: none, empty, of one token, as many as fit the small table and more. */
CASE("RopeGrad", "q=*[0,128] k=q cos=*[4,.] sin=cos qSeqLen=0,0")
CASE("RopeGrad", "q=*[5,64] k=q cos=*[3,.] sin=cos qSeqLen=0,3,0,0,2,0")
CASE("RopeGrad", "q=*[1,128] k=q cos=*[1,.] sin=cos qSeqLen=1 ?exact_grad=true")
CASE("RopeGrad", "q=*[33,64] k=*[33,32] cos=*[1,32] sin=cos qSeqLen=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1")
CASE("RopeGrad", "q=*[128,32] k=q cos=*[2,.] sin=cos qSeqLen=2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2")
CASE("RopeGrad", "q=*[105,32] k=q cos=*[2,.] sin=cos qSeqLen=2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1,2,1")
CASE("RopeGrad", "q=*[4,32] k=q cos=*[3,.] sin=cos qSeqLen=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,3,1")
CASE("RopeGrad", "q=*[598,32] k=*[598,16] cos=*[12,16] sin=cos qSeqLen=7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12,7,1,0,3,12 ?exact_grad=true")
/* a head of q is less than a period of the table that brings partners together, those of k are more */
CASE("RopeGrad", "q=*[1217,8] k=*[1217,32] cos=*[1217,.] sin=cos qSeqLen=1217 exact_grad=true")
/* Refusals. */
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,64] sin=fp16[64,64] qSeqLen=2,1,4,4 head_size=128 slice_start=65",
       "slice_start is 65, but must be between 0 and 64, the head size less the last dimension of cos")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,64] sin=fp16[64,64] qSeqLen=2,1,4,4 head_size=128 slice_start=-1",
       "slice_start is -1, but must be between 0 and 64")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,64] sin=fp16[64,64] qSeqLen=2,1,4,4 slice_start=1",
       "slice_start is 1, but must be between 0 and 0")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,128] sin=fp16[64,128] qSeqLen=2,1,4,4 start_positions=0,0,0",
       "start_positions has 3 entries, but must be empty, or have the 4 of qSeqLen")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,128] sin=fp16[64,128] qSeqLen=2,1,4,4 start_positions=0,-1,0,0",
       "start_positions[1] = -1 must be between 0 and 63: cos has 64 rows and qSeqLen[1] is 1")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,128] sin=fp16[64,128] qSeqLen=2,1,4,4 start_positions=0,0,61,0",
       "start_positions[2] = 61 must be between 0 and 60")
REFUSE("RopeGrad", "q=fp16[7,128] k=fp16[7,128] cos=fp16[64,128] sin=fp16[64,128] qSeqLen=3,0,4 start_positions=0,65,0",
       "start_positions[1] = 65 must be between 0 and 64")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,64] sin=fp16[64,64] qSeqLen=2,1,4,4 head_size=32",
       "head_size is 32, but must be 0, or between the last dimension of cos, 64, and")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,64] sin=fp16[64,64] qSeqLen=2,1,4,4 head_size=-64",
       "head_size is -64, but must be 0")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,63] sin=fp16[64,63] qSeqLen=2,1,4,4 head_size=64",
       "the last dimension of cos [64,63] must be even")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,64] sin=fp16[64,64] qSeqLen=2,1,4,4 head_size=100",
       "the hidden size of q, 128, must be a multiple of the head size 100")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,128] sin=fp16[64,128] qSeqLen=2,1,4,3",
       "the sum of qSeqLen, 10, must be the number of tokens of q, 11")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,128] sin=fp16[64,128] qSeqLen=2,1,4,5",
       "the sum of qSeqLen, 12, must be the number of tokens of q, 11")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[3,128] sin=fp16[3,128] qSeqLen=2,1,4,4",
       "qSeqLen[2] = 4 must be between 0 and the 3 rows of cos")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,128] sin=fp16[64,128] qSeqLen=2,-1,6,4",
       "qSeqLen[1] = -1 must be between 0 and")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,127] sin=fp16[64,127] qSeqLen=2,1,4,4",
       "must be even")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,0] sin=fp16[64,0] qSeqLen=2,1,4,4",
       "must be even and between 2 and")
REFUSE("RopeGrad", "q=fp16[11,385] k=fp16[11,385] cos=fp16[64,128] sin=fp16[64,128] qSeqLen=2,1,4,4",
       "the hidden size of q, 385, must be a multiple of the head size 128")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,129] cos=fp16[64,128] sin=fp16[64,128] qSeqLen=2,1,4,4",
       "the hidden size of k, 129, must be a multiple of the head size 128")
REFUSE("RopeGrad", "q=fp16[12,128] k=fp16[11,128] cos=fp16[64,128] sin=fp16[64,128] qSeqLen=2,1,4,4",
       "q and k must have the same tokens, got [12,128] and [11,128]")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[12,128] cos=fp16[64,128] sin=fp16[64,128] qSeqLen=2,1,4,4",
       "q and k must have the same tokens, got [11,128] and [12,128]")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,128] sin=fp16[63,128] qSeqLen=2,1,4,4",
       "cos and sin must have one shape, got [64,128] and [63,128]")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,64] sin=fp16[64,128] qSeqLen=2,1,4,4",
       "cos and sin must have one shape")
REFUSE("RopeGrad", "q=fp16[11,1,128] k=fp16[11,128] cos=fp16[64,128] sin=fp16[64,128] qSeqLen=2,1,4,4",
       "q must have 2 dimensions")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[1408] cos=fp16[64,128] sin=fp16[64,128] qSeqLen=2,1,4,4",
       "k must have 2 dimensions")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,1,128] sin=fp16[64,128] qSeqLen=2,1,4,4",
       "cos must have 2 dimensions, got [64,1,128]")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,128] sin=fp16[128] qSeqLen=2,1,4,4",
       "sin must have 2 dimensions, got [128]")
REFUSE("RopeGrad", "q=fp32[11,128] k=fp16[11,128] cos=fp16[64,128] sin=fp16[64,128] qSeqLen=2,1,4,4",
       "must have one dtype")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp32[64,128] sin=fp16[64,128] qSeqLen=2,1,4,4",
       "must have one dtype")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=bf16[64,128] sin=fp16[64,128] qSeqLen=2,1,4,4",
       "cos must be fp16 or fp32 beside q of fp16, got bf16")
REFUSE("RopeGrad", "q=fp32[11,128] k=fp32[11,128] cos=fp16[64,128] sin=fp16[64,128] qSeqLen=2,1,4,4",
       "cos must be fp32 beside q of fp32, got fp16")
REFUSE("RopeGrad", "q=fp16[11,128] k=fp16[11,128] cos=fp16[64,128] sin=bf16[64,128] qSeqLen=2,1,4,4",
       "must have one dtype")

/* for the clock of a chip: `ascgrad accept` */
#ifdef LARGE
LARGE("RopeGrad", "q=*[8192,1024] k=*[8192,256] cos=*[4096,128] sin=cos qSeqLen=4096,2048,1024,512,512 exact_grad=true")
#endif
