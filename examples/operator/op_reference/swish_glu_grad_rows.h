/* SPDX-License-Identifier: Apache-2.0
 *
 * SwishGluGrad: one unit and less, a tile and more, cores that get nothing, and the values at the edge.
 */
CASE("SwishGluGrad", "dy=*[3,7] a=*[3,7] b=*[3,7]")
CASE("SwishGluGrad", "dy=*[64] a=*[64] b=*[64] accumulated=*[64]")
CASE("SwishGluGrad", "dy=*[] a=*[] b=*[]")
CASE("SwishGluGrad", "dy=*[0,5] a=*[0,5] b=*[0,5] accumulated=*[0,5]")
CASE("SwishGluGrad", "dy=*[65] a=*[65] b=*[65] beta=0.5")
CASE("SwishGluGrad", "dy=*[5,1000] a=*[5,1000] b=*[5,1000] beta=1.702")
CASE("SwishGluGrad", "dy=*[2,3,4000] a=*[2,3,4000] b=*[2,3,4000] accumulated=*[2,3,4000] beta=1.702")
CASE("SwishGluGrad", "dy=*[64,2561] a=*[64,2561] b=*[64,2561] accumulated=*[64,2561]")
CASE("SwishGluGrad", "dy=*[300,256] a=*[300,256] b=*[300,256] fill=small")
CASE("SwishGluGrad", "dy=*[40,33] a=*[40,33] b=*[40,33] fill=inf")
CASE("SwishGluGrad", "dy=*[40,33] a=*[40,33] b=*[40,33] accumulated=*[40,33] fill=nan")
CASE("SwishGluGrad", "dy=*[100] a=*[100] b=*[100] accumulated=*[100] fill=zeros")
REFUSE("SwishGluGrad", "dy=fp16[3,7] a=fp16[3,8] b=fp16[3,8]", "dy [3,7] must have the shape of a [3,8]")
REFUSE("SwishGluGrad", "dy=fp16[3] a=fp16[3] b=fp16[3] accumulated=fp16[1]", "accumulated [1] must have the shape of a [3]")
REFUSE("SwishGluGrad", "dy=fp16[3] a=fp32[3] b=fp16[3]", "dy and a must have one dtype")
REFUSE("SwishGluGrad", "dy=fp16[3] a=fp16[3] b=fp16[3] beta=0", "beta is 0, but must be above 0 and at most 100")
