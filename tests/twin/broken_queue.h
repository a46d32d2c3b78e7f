/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of violations.cpp: queues and buffers misused.
 */
/* Queues. */

static void not_freed(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    DataCopy(t, k.gin, 256);
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    if (fixed) k.in.FreeTensor(t);
    fault_line = 0;
}

static void freed_twice(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    DataCopy(t, k.gin, 256);
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    if (!fixed) k.in.FreeTensor(t);
    AT k.in.FreeTensor(t);
}

static void used_after_free(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    DataCopy(t, k.gin, 256);
    k.in.EnQue(t);
    t = k.in.DeQue<float>();
    if (!fixed) k.in.FreeTensor(t);
    AT Adds(k.b, t, 1.0f, 256);
    if (fixed) k.in.FreeTensor(t);
}

static void empty_queue(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    DataCopy(t, k.gin, 256);
    if (fixed) k.in.EnQue(t);
    AT t = k.in.DeQue<float>();
    k.in.FreeTensor(t);
}

static void wrong_queue(const Gm &gm, bool fixed) {
    Core k(gm);
    TQue<QuePosition::VECIN, 1> other;
    k.pipe.InitBuffer(other, 1, 1024);
    LocalTensor<float> t = k.in.AllocTensor<float>();
    DataCopy(t, k.gin, 256);
    AT(fixed ? k.in : other).EnQue(t);
    t = k.in.DeQue<float>();
    k.in.FreeTensor(t);
}

static void too_deep(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t = k.in.AllocTensor<float>(), u = k.in.AllocTensor<float>();
    DataCopy(t, k.gin, 256);
    DataCopy(u, k.gin, 256);
    k.in.EnQue(t);
    if (fixed) t = k.in.DeQue<float>();
    AT k.in.EnQue(u);
    u = k.in.DeQue<float>();
    k.in.FreeTensor(t);
    k.in.FreeTensor(u);
}

static void buffers_run_out(const Gm &gm, bool fixed) {
    Core k(gm);
    LocalTensor<float> t[3];
    for (int i = 0; i < (fixed ? 2 : 3); i++) {
        AT t[i] = k.in.AllocTensor<float>();
    }
    for (int i = 0; i < 2; i++)
        k.in.FreeTensor(t[i]);
}

static void nine_live(const Gm &gm, bool fixed) {
    Core k(gm);
    TQue<QuePosition::VECIN, 1> more;
    k.pipe.InitBuffer(more, 10, 64);
    LocalTensor<float> t[9];
    for (int i = 0; i < (fixed ? 8 : 9); i++) {
        AT t[i] = more.AllocTensor<float>();
    }
    for (int i = 0; i < 8; i++)
        more.FreeTensor(t[i]);
}

static void no_init(const Gm &gm, bool fixed) {
    Core k(gm);
    TQue<QuePosition::VECIN, 1> q;
    if (fixed) k.pipe.InitBuffer(q, 1, 64);
    AT LocalTensor<float> t = q.AllocTensor<float>();
    q.FreeTensor(t);
}

static void too_many_buffers(const Gm &gm, bool fixed) {
    Core k(gm);
    TQue<QuePosition::VECIN, 1> q;
    AT k.pipe.InitBuffer(q, fixed ? 50 : 60, 64); /* the core has 7 */
}

static void second_pipe(const Gm &gm, bool fixed) {
    Core k(gm);
    AT if (!fixed) TPipe another;
}
