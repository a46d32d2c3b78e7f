/* SPDX-License-Identifier: Apache-2.0
 *
 * What the broken kernels of violations.cpp share: a core with buffers and queues, and the mark of
 * the faulty line.
 */
static int fault_line;
#define AT fault_line = __LINE__;

/* Three work buffers of 256 floats, one input and one output queue, everything bound. */
struct Core {
    TPipe pipe;
    TQue<QuePosition::VECIN, 1> in;
    TQue<QuePosition::VECOUT, 1> out;
    TBuf<TPosition::VECCALC> bufA, bufB, bufC;
    LocalTensor<float> a, b, c;
    GlobalTensor<float> gin, gout, gwork;

    explicit Core(const Gm &gm) {
        pipe.InitBuffer(in, 2, 1024);
        pipe.InitBuffer(out, 2, 1024);
        pipe.InitBuffer(bufA, 1024);
        pipe.InitBuffer(bufB, 1024);
        pipe.InitBuffer(bufC, 1024);
        a = bufA.Get<float>();
        b = bufB.Get<float>();
        c = bufC.Get<float>();
        gin.SetGlobalBuffer((__gm__ float *)gm.in);
        gout.SetGlobalBuffer((__gm__ float *)gm.out);
        gwork.SetGlobalBuffer((__gm__ float *)gm.workspace);
    }

    void Fill(const LocalTensor<float> &t) {
        Duplicate(t, 1.0f, 256);
        PipeBarrier<PIPE_V>();
    }

    /* One correct store of n floats of ones to gout[at]. */
    void Store(GlobalTensor<float> &to, uint64_t at, uint32_t n) {
        LocalTensor<float> t = out.AllocTensor<float>();
        Duplicate(t, 1.0f, 256);
        out.EnQue(t);
        t = out.DeQue<float>();
        DataCopyPad(to[at], t, DataCopyExtParams(1, n * 4, 0, 0, 0));
        out.FreeTensor(t);
    }

    /* One correct load of n floats from a global tensor. */
    void Load(GlobalTensor<float> &from, uint64_t at, uint32_t n) {
        LocalTensor<float> t = in.AllocTensor<float>();
        DataCopyPad(t, from[at], DataCopyExtParams(1, n * 4, 0, 0, 0),
                    DataCopyPadExtParams<float>(false, 0, 0, 0));
        in.EnQue(t);
        t = in.DeQue<float>();
        in.FreeTensor(t);
    }
};
