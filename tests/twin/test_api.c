/* SPDX-License-Identifier: Apache-2.0
 *
 * What the C API does with callers that are careless: no place for an answer, dimensions that are
 * none, a small stack, tensors that overlap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include "../../twin/ascgrad.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { STACK = 1 << 20 }; /* sanitizers need room of their own */
#else
enum { STACK = 1 << 16 };
#endif
enum { T = 4, TOKENS = 300 };

static float matrix[T * T], row[T];
static const struct ascgrad_tensor square = {ASCGRAD_TYPE_FP32, 2, {T, T}, matrix};

static struct ascgrad_call segsum(struct ascgrad_tensor in[2], struct ascgrad_tensor *out) {
    in[0] = in[1] = square;
    *out = (struct ascgrad_tensor){ASCGRAD_TYPE_FP32, 1, {T}, row};
    return (struct ascgrad_call){.size = sizeof(struct ascgrad_call),
                                 .op = "ExpSegsumGrad",
                                 .in = in,
                                 .inputs = 2,
                                 .out = out,
                                 .outputs = 1};
}

static void nowhere_to_answer(void **state) {
    struct ascgrad_tensor in[2], out;
    struct ascgrad_call call = segsum(in, &out), nonsense = call;
    static struct ascgrad_plan plan;
    struct ascgrad_field field;
    (void)state;
    nonsense.op = "Nope";
    assert_int_equal(ascgrad_run(&call, NULL, NULL), ASCGRAD_OK);
    assert_int_equal(ascgrad_run(&nonsense, NULL, NULL), ASCGRAD_USAGE);
    assert_int_equal(ascgrad_run(NULL, NULL, NULL), ASCGRAD_USAGE);
    assert_int_equal(ascgrad_infer(&nonsense, NULL), ASCGRAD_USAGE);
    assert_int_equal(ascgrad_infer(NULL, NULL), ASCGRAD_USAGE);
    assert_int_equal(ascgrad_tile(&nonsense, &plan, NULL), ASCGRAD_USAGE);
    assert_int_equal(ascgrad_tile(&call, NULL, NULL), ASCGRAD_USAGE);
    assert_int_equal(ascgrad_tile(&call, &plan, NULL), ASCGRAD_OK);
    assert_true(ascgrad_plan_field(call.op, &plan, 0, &field));
    assert_false(ascgrad_plan_field(NULL, &plan, 0, &field));
    assert_false(ascgrad_plan_field(call.op, NULL, 0, &field));
    assert_false(ascgrad_plan_field(call.op, &plan, 0, NULL));
    assert_false(ascgrad_describe(0, NULL));
}

static void attribute_without_list(void **state) {
    struct ascgrad_tensor in[4], out[2];
    struct ascgrad_setting attr[2] = {{.set = true, .list = NULL, .count = 7}};
    for (int i = 0; i < 4; i++)
        in[i] = square;
    struct ascgrad_call call = {.size = sizeof call,
                                .op = "RopeGrad",
                                .in = in,
                                .inputs = 4,
                                .out = out,
                                .outputs = 2,
                                .attr = attr,
                                .attrs = 1};
    char why[ASCGRAD_WHY];
    (void)state;
    out[0] = out[1] = square;
    assert_int_equal(ascgrad_run(&call, NULL, why), ASCGRAD_REFUSES);
}

static void no_such_dimension(void **state) {
    struct ascgrad_tensor in[2], out;
    struct ascgrad_call call = segsum(in, &out);
    char why[ASCGRAD_WHY];
    (void)state;
    for (int k = 0; k < 2; k++) {
        in[0].dim[k] = -4;
        assert_int_equal(ascgrad_infer(&call, why), ASCGRAD_USAGE);
        assert_non_null(strstr(why, "grad_output has a negative dimension"));
        in[0].dim[k] = -2; /* means "rank unknown" only when alone */
        assert_int_equal(ascgrad_infer(&call, why), ASCGRAD_USAGE);
        in[0].dim[k] = -1;
        assert_int_equal(ascgrad_infer(&call, why), ASCGRAD_OK);
        in[0].dim[k] = T;
    }
    in[0].rank = 26;
    assert_int_equal(ascgrad_infer(&call, why), ASCGRAD_USAGE);
    assert_non_null(strstr(why, "25 axes"));
}

/* What a watcher adds up. */
struct seen {
    double busy[4], last, waits;
    uint64_t read, written;
    uint32_t buffers, end, free, nameless;
};

static void see_event(void *context, const struct ascgrad_event *e) {
    struct seen *s = context;
    s->busy[e->pipe] += e->to_us - e->from_us;
    if (e->to_us > s->last) s->last = e->to_us;
    s->waits += e->wait_us;
    s->nameless += !e->call || !*e->call || (e->wait_us > 0 && !*e->wait_for);
}

static void see_buffer(void *context, const char *kind, const char *file, int line, uint32_t at,
                       uint32_t bytes) {
    struct seen *s = context;
    assert_int_equal(at, s->end); /* one after the other */
    assert_int_equal(s->free, 0); /* the rest comes last */
    if (strcmp(kind, "free") == 0)
        s->free = bytes;
    else
        assert_true(*kind && *file && line > 0);
    s->end += bytes;
    s->buffers++;
}

static void see_tensor(void *context, const char *name, uint64_t bytes, uint64_t read,
                       uint64_t written) {
    struct seen *s = context;
    assert_true(*name && bytes > 0);
    s->read += read;
    s->written += written;
}

static void a_watcher_sees_what_is_reported(void **state) {
    struct ascgrad_tensor in[2], out;
    struct ascgrad_call call = segsum(in, &out);
    struct seen s = {0};
    struct ascgrad_report report = {.size = sizeof report};
    double mhz;
    (void)state;
    call.watch = &(struct ascgrad_watch){&s, see_event, see_buffer, see_tensor};
    assert_int_equal(ascgrad_run(&call, &report, NULL), ASCGRAD_OK);
    mhz = report.cycles / report.time_us;
    assert_int_equal(report.cores_used, 1); /* so the slowest core's figures are all there are */
    assert_float_equal(s.busy[0], report.busy_s / mhz, 1e-3f);
    assert_float_equal(s.busy[1], report.busy_v / mhz, 1e-3f);
    assert_float_equal(s.busy[2], report.busy_mte2 / mhz, 1e-3f);
    assert_float_equal(s.busy[3], report.busy_mte3 / mhz, 1e-3f);
    assert_true(s.waits > 0 && s.last <= report.time_us);
    assert_int_equal(s.nameless, 0);
    assert_int_equal(s.read, report.gm_read);
    assert_int_equal(s.written, report.gm_write);
    assert_true(s.buffers > 1 && s.free > 0);
    assert_int_equal(s.end, 192 * 1024 - 256); /* all of a 910B's */
    assert_string_equal(ascgrad_pipe_name(2), "MTE2");
    assert_null(ascgrad_pipe_name(4));
    call.watch = &(struct ascgrad_watch){0}; /* who does not want to know anything */
    assert_int_equal(ascgrad_run(&call, NULL, NULL), ASCGRAD_OK);
}

/* Other constants of the model change its times and nothing else, for this run only. */
static void other_constants(void **state) {
    struct ascgrad_tensor in[2], out;
    struct ascgrad_call call = segsum(in, &out);
    struct ascgrad_report plain = {.size = sizeof plain}, other = plain, again = plain;
    double value[128] = {0};
    uint32_t count = 0, latency = 128, launch = 128;
    (void)state;
    for (const char *name; (name = ascgrad_model_constant(count, NULL, &value[count])); count++) {
        assert_true(value[count] > 0 && count < 127);
        if (strncmp(name, "TWIN_LOAD_LATENCY", 17) == 0 && latency == 128) latency = count;
        if (strcmp(name, "launch_us") == 0) launch = count;
    }
    assert_true(latency < count && launch < count);
    assert_null(ascgrad_model_constant(0, "no such chip", &value[127]));
    assert_int_equal(ascgrad_run(&call, &plain, NULL), ASCGRAD_OK);
    assert_int_equal(ascgrad_run_with(&call, value, &again, NULL), ASCGRAD_OK);
    assert_true(again.time_us == plain.time_us && again.launch_us == plain.launch_us);
    value[latency] += 1850; /* a microsecond of the default chip, at least once on the way */
    value[launch] += 1;
    assert_int_equal(ascgrad_run_with(&call, value, &other, NULL), ASCGRAD_OK);
    assert_true(other.time_us > plain.time_us + 0.9 && other.gm_read == plain.gm_read);
    assert_float_equal(other.launch_us, plain.launch_us + 1, 1e-6f);
    assert_int_equal(ascgrad_run(&call, &again, NULL), ASCGRAD_OK);
    assert_true(again.time_us == plain.time_us);
}

/* Timed without data: the same report; tensors may be larger than any memory. */
static void no_data(void **state) {
    struct ascgrad_tensor in[2], out;
    struct ascgrad_call call = segsum(in, &out);
    struct ascgrad_report whole = {.size = sizeof whole}, steps = whole;
    char why[ASCGRAD_WHY];
    (void)state;
    assert_int_equal(ascgrad_run(&call, &whole, NULL), ASCGRAD_OK);
    in[0].data = in[1].data = out.data = NULL;
    assert_int_equal(ascgrad_perf(&call, &steps, NULL), ASCGRAD_OK);
    assert_memory_equal(&whole, &steps, sizeof whole);
    assert_null(out.data);
    call.fast = true;
    assert_int_equal(ascgrad_perf(&call, &steps, why), ASCGRAD_USAGE);
    assert_non_null(strstr(why, "a fast run is not timed"));
}

/* Callers of another release: a size that is too small, fields that are not known here. */
static void sizes_of_callers(void **state) {
    struct ascgrad_tensor in[2], out;
    struct {
        struct ascgrad_call call;
        char later[24];
    } newer = {segsum(in, &out), {0}};
    struct {
        struct ascgrad_report report;
        char later[24];
    } wide = {{.size = sizeof wide}, {0}};
    struct ascgrad_report report = {0};
    char why[ASCGRAD_WHY];
    (void)state;
    newer.call.size = 0;
    assert_int_equal(ascgrad_run(&newer.call, NULL, why), ASCGRAD_USAGE);
    assert_non_null(strstr(why, "the call's size is 0, but must be sizeof(struct ascgrad_call)"));
    newer.call.size = sizeof newer;
    assert_int_equal(ascgrad_run(&newer.call, NULL, why), ASCGRAD_OK);
    newer.later[23] = 1;
    assert_int_equal(ascgrad_run(&newer.call, NULL, why), ASCGRAD_USAGE);
    assert_non_null(strstr(why, "the call sets a field that version "));
    assert_int_equal(ascgrad_infer(&newer.call, NULL), ASCGRAD_USAGE);
    newer.call.size = sizeof newer.call;
    assert_int_equal(ascgrad_run(&newer.call, &report, why), ASCGRAD_USAGE);
    assert_non_null(strstr(why, "the report's size is 0"));
    memset(wide.later, 7, sizeof wide.later);
    assert_int_equal(ascgrad_run(&newer.call, &wide.report, why), ASCGRAD_OK);
    assert_true(wide.report.size == sizeof wide && wide.report.time_us > 0);
    for (size_t i = 0; i < sizeof wide.later; i++)
        assert_int_equal(wide.later[i], 0);
}

/* A program that was compiled with the header of 2.0.0. */
static void layout_of_2_0(void **state) {
    struct ascgrad_tensor in[2], out;
    const struct ascgrad_call now = segsum(in, &out);
    struct {
        const char *op;
        const struct ascgrad_tensor *in;
        uint32_t inputs;
        struct ascgrad_tensor *out;
        uint32_t outputs;
        const struct ascgrad_setting *attr;
        uint32_t attrs;
        const char *soc;
        uint32_t cores;
        bool fast;
        uint64_t order;
        const char *trace;
        const struct ascgrad_watch *watch;
    } call = {.op = now.op, .in = in, .inputs = 2, .out = &out, .outputs = 1, .cores = 3};
    struct {
        uint64_t key;
        uint32_t block_dim;
        uint64_t workspace;
        double time_us, others[8];
        uint64_t counts[3];
        double busy[4];
        uint64_t more[4];
        uint32_t cores_used, warnings;
        char warning[ASCGRAD_WARNINGS][256];
        char behind[8];
    } report = {.behind = "nothing"};
    struct ascgrad_call asked = now;
    struct ascgrad_report wanted = {.size = sizeof wanted};
    char why[ASCGRAD_WHY];
    (void)state;
    asked.cores = 3;
    assert_int_equal(ascgrad_run(&asked, &wanted, why), ASCGRAD_OK);
    assert_int_equal(
        ascgrad_run((const struct ascgrad_call *)&call, (struct ascgrad_report *)&report, why),
        ASCGRAD_OK);
    assert_true(report.key == wanted.key && report.block_dim == wanted.block_dim);
    assert_true(report.time_us == wanted.time_us && report.cores_used == wanted.cores_used);
    assert_string_equal(report.behind, "nothing");
    call.op = "Nobody";
    assert_int_equal(ascgrad_infer((struct ascgrad_call *)&call, why), ASCGRAD_USAGE);
    assert_non_null(strstr(why, "there is no operator 'Nobody'"));
}

static void *one_row(void *asked, uint32_t output, size_t bytes) {
    *(int *)asked += 1;
    return output == 0 && bytes == sizeof row ? row : NULL;
}

static void *nothing(void *asked, uint32_t output, size_t bytes) {
    (void)output;
    (void)bytes;
    *(int *)asked += 1;
    return NULL;
}

/* By number, with an output that is inferred and made on the way. */
static void all_in_one_call(void **state) {
    struct ascgrad_tensor in[2], out;
    struct ascgrad_call call = segsum(in, &out);
    static struct ascgrad_plan plan;
    struct ascgrad_op_info info;
    char why[ASCGRAD_WHY];
    int asked = 0;
    (void)state;
    while (ascgrad_describe(call.number, &info) && strcmp(info.type, call.op) != 0)
        call.number++;
    call.op = NULL;
    out = (struct ascgrad_tensor){.rank = -1};
    assert_int_equal(ascgrad_tile(&call, &plan, why), ASCGRAD_OK);
    assert_true(out.rank == 1 && out.dim[0] == T && out.dtype == ASCGRAD_TYPE_FP32);
    assert_int_equal(ascgrad_run(&call, NULL, why), ASCGRAD_USAGE); /* no data, nobody to ask */
    assert_non_null(strstr(why, "grad_input has no data"));
    call.context = &asked;
    call.allocate = nothing;
    assert_int_equal(ascgrad_run(&call, NULL, why), ASCGRAD_SYSTEM);
    assert_non_null(strstr(why, "out of memory for output grad_input of 16 bytes"));
    call.allocate = one_row;
    out = (struct ascgrad_tensor){.rank = -1};
    for (int i = 0; i < T * T; i++)
        matrix[i] = 1;
    assert_int_equal(ascgrad_run(&call, NULL, why), ASCGRAD_OK);
    assert_true(asked == 2 && out.data == row && row[1] == 3 && row[2] == 4);
    assert_int_equal(ascgrad_run(&call, NULL, why), ASCGRAD_OK);
    assert_int_equal(asked, 2); /* it has its data now */
    in[1].dim[1] = T + 1;       /* refused by infer, before anybody is asked for memory */
    out = (struct ascgrad_tensor){.rank = -1};
    assert_int_equal(ascgrad_run(&call, NULL, why), ASCGRAD_REFUSES);
    assert_int_equal(asked, 2);
    call.number = 1000;
    assert_int_equal(ascgrad_run(&call, NULL, why), ASCGRAD_USAGE);
    assert_string_equal(why, "there is no operator 1000");
    memset(matrix, 0, sizeof matrix);
}

static float q[TOKENS * 8], k[TOKENS * 8], cosine[8], sine[8], dq[TOKENS * 8], dk[TOKENS * 8];

/* One token each: the largest tiling struct there is. */
static void *many_sequences(void *code) {
    struct ascgrad_tensor in[4] = {{ASCGRAD_TYPE_FP32, 2, {TOKENS, 8}, q},
                                   {ASCGRAD_TYPE_FP32, 2, {TOKENS, 8}, k},
                                   {ASCGRAD_TYPE_FP32, 2, {1, 8}, cosine},
                                   {ASCGRAD_TYPE_FP32, 2, {1, 8}, sine}};
    struct ascgrad_tensor out[2] = {in[0], in[1]};
    static int64_t lengths[TOKENS];
    struct ascgrad_setting attr[2] = {{.set = true, .list = lengths, .count = TOKENS}};
    struct ascgrad_call call = {.size = sizeof call,
                                .op = "RopeGrad",
                                .in = in,
                                .inputs = 4,
                                .out = out,
                                .outputs = 2,
                                .attr = attr,
                                .attrs = 1};
    for (int i = 0; i < TOKENS; i++)
        lengths[i] = 1;
    out[0].data = dq;
    out[1].data = dk;
    *(int *)code = ascgrad_run(&call, NULL, NULL);
    call.fast = true;
    if (*(int *)code == ASCGRAD_OK) *(int *)code = ascgrad_run(&call, NULL, NULL);
    return NULL;
}

static void small_stack(void **state) {
    pthread_attr_t attributes;
    pthread_t thread;
    int code = -1;
    (void)state;
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, many_sequences, &code), 0);
    pthread_attr_destroy(&attributes);
    pthread_join(thread, NULL);
    assert_int_equal(code, ASCGRAD_OK);
}

/* dx at the memory of dy, checked and fast, on any number of cores; nothing else may overlap. */
static void in_place(void **state) {
    enum { ROWS = 96, D = 16, ALL = ROWS * D, DY = 3 };
    static float x[ALL], dy[2 * ALL], r[4][D], want[ALL], kept[ALL];
    const struct ascgrad_tensor rows = {ASCGRAD_TYPE_FP32, 2, {ROWS, D}, x},
                                one = {ASCGRAD_TYPE_FP32, 2, {1, D}, r[0]};
    struct ascgrad_tensor in[4] = {rows, one, one, rows}, out[3] = {rows, one, one};
    char why[ASCGRAD_WHY];
    struct ascgrad_op_info info = {.type = NULL};
    struct ascgrad_call call = {
        .size = sizeof call, .in = in, .inputs = 4, .out = out, .outputs = 3};
    (void)state;
    while (ascgrad_describe(call.number, &info) && strcmp(info.type, "RotaryMulGrad") != 0)
        call.number++;
    assert_int_equal(ascgrad_in_place(call.number, 0), DY);
    assert_int_equal(ascgrad_in_place(call.number, 1), -1);
    assert_int_equal(ascgrad_in_place(call.number, 3), -1);
    assert_int_equal(ascgrad_in_place(1000, 0), -1);
    for (int i = 0; i < ALL; i++) {
        x[i] = (float)(i % 7);
        kept[i] = (float)(i % 11 + 1);
        r[0][i % D] = (float)(i % D) + 0.5f;
    }
    memcpy(r[1], r[0], sizeof r[0]);
    memcpy(dy, kept, sizeof kept);
    in[DY].data = dy;
    in[2].data = r[1];
    out[0].data = want;
    out[1].data = r[2];
    out[2].data = r[3];
    assert_int_equal(ascgrad_run(&call, NULL, why), ASCGRAD_OK);
    assert_memory_equal(dy, kept, sizeof kept);
    out[0].data = dy;
    for (uint32_t k = 0; k < 8; k++) {
        static const uint32_t cores[] = {0, 1, 5, 64};
        call.fast = k >= 4;
        call.cores = cores[k % 4];
        memcpy(dy, kept, sizeof kept);
        assert_int_equal(ascgrad_run(&call, NULL, why), ASCGRAD_OK);
        assert_memory_equal(dy, want, sizeof want);
    }
    out[0].data = dy + 1;
    assert_int_equal(ascgrad_run(&call, NULL, why), ASCGRAD_USAGE);
    assert_string_equal(why, "RotaryMulGrad: dx must not overlap dy in part");
    out[0].data = x;
    assert_int_equal(ascgrad_run(&call, NULL, why), ASCGRAD_USAGE);
    assert_string_equal(why, "RotaryMulGrad: dx must not overlap x");
    out[0].data = dy + ALL; /* just behind */
    assert_int_equal(ascgrad_run(&call, NULL, why), ASCGRAD_OK);
    out[2].data = r[2];
    assert_int_equal(ascgrad_run(&call, NULL, why), ASCGRAD_USAGE);
    assert_string_equal(why, "RotaryMulGrad: dr2 must not overlap dr1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nowhere_to_answer), cmocka_unit_test(attribute_without_list),
        cmocka_unit_test(no_such_dimension), cmocka_unit_test(a_watcher_sees_what_is_reported),
        cmocka_unit_test(other_constants),   cmocka_unit_test(no_data),
        cmocka_unit_test(sizes_of_callers),  cmocka_unit_test(layout_of_2_0),
        cmocka_unit_test(all_in_one_call),   cmocka_unit_test(small_stack),
        cmocka_unit_test(in_place)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
