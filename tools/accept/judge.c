/* SPDX-License-Identifier: Apache-2.0
 *
 * One case of `ascgrad accept`: the same inputs on the twin, in double precision and on every road
 * of the chip; and what the chip's outputs are worth. A wrong result is one that breaks our
 * contract, misses the vendor's published standard, has other bits than the twin, or other bits the
 * second time or on fewer cores.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accept.h"

const char *accept_verdict_name(enum verdict verdict) {
    static const char *const name[] = {"skip", "pass", "fail"};
    return name[verdict];
}

/* ---- a call on a road */

_Static_assert((int)ASCGRAD_INPUTS_MAX + (int)ASCGRAD_OUTPUTS_MAX <= (int)WIRE_TENSORS &&
                   (int)ASCGRAD_ATTRS_MAX <= (int)WIRE_ATTRS,
               "wire.h has room");

struct trial {
    struct accept *a;
    struct accept_case *c;
    struct request request; /* its outputs are the twin's */
    struct ref_tensor want[ASCGRAD_OUTPUTS_MAX];
    struct wire_request wire;
    size_t each;          /* bytes of all outputs */
    char *got[WIRE_RUNS]; /* of every run that was done */
};

static void set_tensor(struct wire_tensor *w, const char *name, const struct ascgrad_tensor *t) {
    snprintf(w->name, sizeof w->name, "%s", name);
    w->dtype = t->dtype;
    w->rank = t->rank;
    w->bytes = t->rank < 0 ? 0 : (uint64_t)text_tensor_bytes(t);
    for (int32_t k = 0; k < t->rank && k < WIRE_RANK; k++)
        w->dim[k] = t->dim[k];
}

static void set_attr(struct wire_attr *w, const struct ascgrad_attr_info *info,
                     const struct ascgrad_setting *s) {
    const bool real = strstr(info->type, "loat") != NULL,
               list = strncmp(info->type, "list", 4) == 0;
    snprintf(w->name, sizeof w->name, "%s", info->name);
    w->kind = list ? (real ? 'r' : 'l') : real ? 'f' : info->type[0];
    if (real)
        w->real = s->set ? s->real : info->initial_real;
    else
        w->value = s->set ? s->value : info->initial;
    if (list) {
        w->count = s->set ? s->count : 0;
        w->bytes = w->count * (real ? sizeof(float) : sizeof(int64_t));
    }
}

static bool is_default(const struct ascgrad_attr_info *info, const struct ascgrad_setting *s) {
    if (info->required) return false;
    if (strncmp(info->type, "list", 4) == 0) return !s->set || s->count == 0;
    if (strcmp(info->type, "float") == 0) return !s->set || s->real == info->initial_real;
    return !s->set || s->value == info->initial;
}

/* Three times the same; then on one core and on half of a chip's; then with unknown dimensions;
 * then in place. */
static void set_runs(struct wire_request *w, enum road road) {
    static const struct wire_run runs[] = {{0, 0, 0},  {0, 0, 0}, {0, 0, 0}, {1, 0, 0},
                                           {20, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    w->runs = road == ROAD_CANN ? 1 : sizeof runs / sizeof runs[0];
    memcpy(w->run, runs, sizeof runs);
}

static bool make_wire(struct trial *t) {
    const struct request *r = &t->request;
    struct wire_request *w = &t->wire;
    memset(w, 0, sizeof *w);
    w->magic = WIRE_MAGIC;
    w->kind = WIRE_CALL;
    w->inputs = r->op.inputs;
    w->outputs = r->op.outputs;
    w->attrs = r->op.attrs;
    snprintf(w->type, sizeof w->type, "%s", r->op.type);
    for (uint32_t i = 0; i < w->inputs; i++)
        set_tensor(&w->tensor[i], r->op.in[i].name, &r->in[i]);
    for (uint32_t i = 0; i < w->outputs; i++) {
        set_tensor(&w->tensor[w->inputs + i], r->op.out[i].name, &r->out[i]);
        w->tensor[w->inputs + i].place = ascgrad_in_place(r->number, i);
    }
    for (uint32_t i = 0; i < w->attrs; i++) {
        set_attr(&w->attr[i], &r->op.attr[i], &r->attr[i]);
        if (!is_default(&r->op.attr[i], &r->attr[i])) w->used = i + 1;
    }
    t->each = 0;
    for (uint32_t i = 0; i < w->outputs; i++)
        t->each += w->tensor[w->inputs + i].bytes;
    for (int i = 0; i < WIRE_RUNS; i++)
        if (!(t->got[i] = malloc(t->each + 1))) return false;
    return true;
}

static enum runner_end send_call(struct trial *t, struct runner *r, double deadline, char *why) {
    const struct request *q = &t->request;
    enum runner_end end = runner_send(r, &t->wire, sizeof t->wire, deadline, why);
    for (uint32_t i = 0; end == RUNNER_WELL && i < q->op.inputs; i++)
        end = runner_send(r, q->in[i].data, t->wire.tensor[i].bytes, deadline, why);
    for (uint32_t i = 0; end == RUNNER_WELL && i < q->op.attrs; i++)
        end = runner_send(r, q->attr[i].list, t->wire.attr[i].bytes, deadline, why);
    return end;
}

/* Asks a runner, which is started if it does not run. False: why says what happened. */
static bool exchange(struct trial *t, struct runner *r, struct wire_answer *answer,
                     char why[ACCEPT_WHY]) {
    const double deadline = accept_now() + t->a->options.timeout;
    if (!r->pid && !runner_start(r, why)) return false;
    if (send_call(t, r, deadline, why) != RUNNER_WELL) return false;
    if (runner_receive(r, answer, sizeof *answer, deadline, why) != RUNNER_WELL) return false;
    wire_end(answer);
    bool good = answer->magic == WIRE_MAGIC && answer->times <= WIRE_TIMES &&
                answer->again_times <= WIRE_TIMES;
    for (uint32_t i = 0; good && answer->status == WIRE_DONE && i < t->wire.runs; i++)
        if (answer->done >> i & 1)
            good = runner_receive(r, t->got[i], t->each, deadline, why) == RUNNER_WELL;
    if (!good && r->pid) {
        snprintf(why, ACCEPT_WHY, "the runner's answer makes no sense");
        runner_stop(r);
    }
    if (good && answer->broken) runner_stop(r);
    if (good && answer->status != WIRE_DONE) snprintf(why, ACCEPT_WHY, "%s", answer->text);
    return good;
}

/* The runs among each other: the first is the measure. */
static void compare_runs(const struct trial *t, const struct wire_answer *answer,
                         struct accept_result *result) {
    const struct wire_request *w = &t->wire;
    for (uint32_t k = 0; k < w->runs; k++) {
        const struct wire_run *run = &w->run[k];
        size_t at = 0;
        if (!(answer->done >> k & 1)) continue;
        *(run->in_place  ? &result->in_place
          : run->dynamic ? &result->dynamic
          : run->cores   ? &result->cores
                         : &result->repeats) += 1;
        for (uint32_t i = 0; i < w->outputs; at += w->tensor[w->inputs + i].bytes, i++) {
            if (check_same_values(&t->request.out[i], t->got[0] + at, t->got[k] + at)) continue;
            result->verdict = VERDICT_FAIL;
            if (result->why[0]) continue;
            if (run->cores)
                snprintf(result->why, sizeof result->why, "%s has other bits on %u core%s",
                         t->request.op.out[i].name, run->cores, run->cores > 1 ? "s" : "");
            else
                snprintf(result->why, sizeof result->why, "%s has other bits in %s",
                         t->request.op.out[i].name,
                         run->in_place  ? "the memory of an input"
                         : run->dynamic ? "a graph with unknown dimensions"
                                        : "a repeated run");
        }
    }
}

static void say_wrong(const struct trial *t, uint32_t i, struct accept_result *result) {
    const struct accept_output *o = &result->out[i];
    const char *name = t->request.op.out[i].name;
    result->verdict = VERDICT_FAIL;
    if (result->why[0]) return;
    if (o->contract > 1e29)
        snprintf(result->why, sizeof result->why,
                 "%s[%lld] breaks the contract: it is %.9g, not %.9g", name, (long long)o->worst,
                 o->got, o->want);
    else if (o->contract > 1)
        snprintf(
            result->why, sizeof result->why,
            "%s[%lld] breaks the contract: it is %.9g, not %.9g, %.3g of the error allowed beyond "
            "rounding",
            name, (long long)o->worst, o->got, o->want, o->contract);
    else if (!o->vendor)
        snprintf(
            result->why, sizeof result->why,
            "%s misses the vendor's standard: %.4g %% within the tolerance, largest error %.3g",
            name, 100 * o->matched, o->absolute);
    else
        snprintf(
            result->why, sizeof result->why,
            "%s has other bits than the twin in %lld of %lld elements: %s[%lld] is %.9g, not %.9g",
            name, (long long)o->differ, (long long)o->elements, name, (long long)o->other, o->got,
            o->want);
}

static void take_answer(struct trial *t, enum road road, struct wire_answer *answer) {
    struct accept_result *result = &t->c->result[road];
    size_t at = 0;
    result->verdict = VERDICT_PASS;
    if (!(answer->done & 1)) {
        result->verdict = VERDICT_FAIL;
        snprintf(result->why, sizeof result->why, "it has not run");
        return;
    }
    for (uint32_t i = 0; i < t->request.op.outputs; i++) {
        struct accept_output *o = &result->out[i];
        accept_weigh(road == ROAD_CANN ? NULL : t->a, o, &t->request.out[i], t->got[0] + at,
                     &t->want[i]);
        at += t->wire.tensor[t->wire.inputs + i].bytes;
        if (road != ROAD_CANN && (o->contract > 1 || !o->vendor || o->differ))
            say_wrong(t, i, result);
    }
    if (road != ROAD_CANN) compare_runs(t, answer, result);
    result->times = answer->times;
    result->on_host = answer->on_host != 0;
    result->p50 = accept_p50(answer->us, answer->times);
    result->again_times = answer->again_times;
    result->again_p50 = accept_p50(answer->again_us, answer->again_times);
}

static void try_road(struct trial *t, struct roads *roads, enum road road, int kind) {
    struct accept_result *result = &t->c->result[road];
    struct wire_answer answer = {0};
    char why[ACCEPT_WHY] = "";
    set_runs(&t->wire, road);
    t->wire.times = t->c->timed ? WIRE_TIMES : 0;
    const bool answered = exchange(t, &roads->runner[road][kind], &answer, why);
    if (answered && answer.status == WIRE_DONE) {
        take_answer(t, road, &answer);
        return;
    }
    const bool left = road == ROAD_CANN; /* what CANN refuses is no fault of ours */
    result->verdict = left ? VERDICT_SKIP : VERDICT_FAIL;
    accept_scrub(t->a, why, result->why, sizeof result->why);
    const bool other = t->a->road[ROAD_GE].asked && !t->a->road[ROAD_GE].why[0];
    if (left && kind == 0 && answered && answer.status == WIRE_NOT_THERE && other)
        try_road(t, roads, road, 1);
}

/* ---- a case */

/* Inputs, the twin's outputs with the model's times, the reference's. */
static bool prepare(struct trial *t, char why[ASCGRAD_WHY]) {
    struct request *r = &t->request;
    struct ascgrad_report report = {.size = sizeof report};
    enum fill fill = FILL_NORMAL;
    if (!check_read_row(r, t->c->row, t->c->star, &fill, why)) return false;
    r->soc = t->a->model;
    struct ascgrad_call call = request_call(r);
    for (uint32_t i = 0; i < r->op.inputs; i++)
        if (r->in[i].rank > WIRE_RANK)
            return snprintf(why, ASCGRAD_WHY, "too many dimensions"), false;
    if (!check_make_data(r->in, r->op.inputs, why)) return false;
    for (uint32_t i = 0; i < r->op.inputs; i++)
        if (r->in[i].rank >= 0) value_fill(&r->in[i], fill, t->c->seed + i);
    if (ascgrad_infer(&call, why) != ASCGRAD_OK) return false;
    if (!check_make_data(r->out, r->op.outputs, why)) return false;
    if (ascgrad_run(&call, &report, why) != ASCGRAD_OK) return false;
    t->c->modelled = t->a->model != NULL;
    t->c->model_us = report.time_us;
    t->c->launch_us = report.launch_us;
    t->c->roofline_us = report.roofline_us;
    t->c->model_l2_us = report.time_l2_us;
    t->c->copy_us = report.copy_us;
    t->c->copy_l2_us = report.copy_l2_us;
    t->c->l2_share = report.l2_share;
    if (check_reference(r, t->want) && make_wire(t)) return true;
    snprintf(why, ASCGRAD_WHY, "out of memory");
    return false;
}

void accept_judge(struct accept *a, struct roads *roads, struct accept_case *c) {
    struct trial *t = calloc(1, sizeof *t);
    char why[ASCGRAD_WHY] = "out of memory";
    if (t) t->a = a, t->c = c;
    const bool ready = t && prepare(t, why);
    for (int road = 0; road < ROADS; road++) {
        struct accept_result *result = &c->result[road];
        if (!a->road[road].asked) continue;
        if (!ready) {
            result->verdict = VERDICT_FAIL;
            snprintf(result->why, sizeof result->why, "the twin does not run it: %.500s", why);
        } else if (road != ROAD_CANN && word_in(c->op.type, a->left_out, ' ')) {
            snprintf(result->why, sizeof result->why, "this installation leaves the type to CANN");
        } else if (a->road[road].why[0]) {
            snprintf(result->why, sizeof result->why, "this road is closed: %.1000s",
                     a->road[road].why);
        } else if (road != ROAD_CANN) {
            try_road(t, roads, (enum road)road, 0);
        } else if (!c->timed) {
            snprintf(result->why, sizeof result->why, "only where times are taken");
        } else if (!accept_cann_has(a, &c->op, t->wire.used)) {
            snprintf(result->why, sizeof result->why,
                     "CANN has no such operator with these arguments");
        } else {
            try_road(t, roads, ROAD_CANN, roads->cann_kind);
        }
    }
    if (!t) return;
    for (int i = 0; i < WIRE_RUNS; i++)
        free(t->got[i]);
    check_reference_free(&t->request, t->want);
    request_free(&t->request);
    free(t);
}

bool accept_verdict(const struct accept *a, enum road road, size_t count[3]) {
    count[0] = count[1] = count[2] = 0;
    for (size_t i = 0; i < a->count; i++)
        count[a->cases[i].result[road].verdict]++;
    return !a->road[road].asked ||
           (!a->road[road].why[0] && !count[VERDICT_FAIL] && count[VERDICT_PASS]);
}

bool accept_passed(const struct accept *a) {
    size_t count[3];
    return !a->interrupted && strcmp(a->doctor_worst, "fail") != 0 &&
           accept_verdict(a, ROAD_GE, count) && accept_verdict(a, ROAD_ACLNN, count);
}
