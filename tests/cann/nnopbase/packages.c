/* SPDX-License-Identifier: Apache-2.0
 *
 * The packages as nnopbase finds them: every entry of ASCEND_CUSTOM_OPP_PATH, the vendors of
 * config.ini below ASCEND_OPP_PATH in its order, then CANN's own. Of each, all kernels in the index
 * and all tiling functions, whether it has both or one; for a key or a type, the first found wins.
 */
#include "../standin.h"

#include "../../../package/config.h"
#include "../../../package/files.h"
#include "../../../package/json.h"
#include "../include/acl/acl_rt.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

struct tiling {
    struct ge_op_functions *table;
    size_t count;
    struct tiling *next;
};

static struct {
    struct standin_kernel *kernels, **kernels_end;
    struct tiling *tilings, **tilings_end;
    char machine[sizeof((struct utsname *)0)->machine];
    int code;
} found;

static struct json *read_json(const char *path) {
    size_t size;
    int line;
    char *text = file_read_following(AT_FDCWD, path, &size);
    struct json *json = text ? json_parse(text, &line) : NULL;
    free(text);
    return json;
}

static uint64_t json_number(const struct json *object, const char *name) {
    const struct json *value = json_get(object, name);
    return value && value->kind == JSON_NUMBER ? strtoull(value->text, NULL, 10) : 0;
}

/* The description lies beside the kernel. As in nnopbase its name is made from the first ".o" of
 * the whole path. */
static bool describe(struct standin_kernel *kernel) {
    char *path = strdup(kernel->path), *dot = path ? strstr(path, ".o") : NULL;
    struct text name = {0};
    if (dot) {
        *dot = '\0';
        text_add(&name, "%s.json", path);
    }
    free(path);
    struct json *json = dot ? read_json(text_of(&name)) : NULL;
    text_free(&name);
    const struct json *list = json ? json_get(json, "kernelList") : NULL;
    kernel->room = json ? (json_number(json, "opParaSize") + 7) / 8 * 8 : 0;
    for (const struct json *k = list ? list->child : NULL; k; k = k->next) {
        uint64_t *more = realloc(kernel->tiling_key, (kernel->keys + 1) * sizeof *more);
        if (more) {
            kernel->tiling_key = more;
            more[kernel->keys++] = json_number(k, "tilingKey");
        }
    }
    json_free(json);
    return kernel->keys > 0;
}

static void add_kernel(const char *type, const char *key, const char *path) {
    struct standin_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel) {
        return;
    }
    kernel->type = strdup(type);
    kernel->key = strdup(key);
    kernel->path = strdup(path);
    if (!kernel->type || !kernel->key || !kernel->path || !describe(kernel)) {
        standin_report("EZ9999", "kernel %s of %s has no description", path, type);
    }
    *found.kernels_end = kernel;
    found.kernels_end = &kernel->next;
}

/* binary_info_config.json: per type a list of binaries, each with one key or several. */
static bool read_index(const char *tbe) {
    struct text path = {0};
    text_add(&path, "%s/kernel/config/%s/binary_info_config.json", tbe, standin_chip());
    struct json *index = read_json(text_of(&path));
    text_free(&path);
    for (const struct json *op = index ? index->child : NULL; op; op = op->next) {
        const struct json *list = json_get(op, "binaryList");
        for (const struct json *b = list ? list->child : NULL; b; b = b->next) {
            const char *file = json_string(b, "binPath");
            const struct json *keys = json_get(b, "simplifiedKey");
            struct text full = {0};
            text_add(&full, "%s/kernel/%s", tbe, file ? file : "");
            if (keys && keys->kind == JSON_STRING) {
                add_kernel(op->name, keys->text, text_of(&full));
            }
            for (const struct json *k = keys ? keys->child : NULL; k; k = k->next) {
                add_kernel(op->name, k->text, text_of(&full));
            }
            text_free(&full);
        }
    }
    const bool there = index != NULL;
    json_free(index);
    return there;
}

static void load_tiling(const char *tbe, const char *library) {
    struct text path = {0};
    text_add(&path, "%s/op_tiling/lib/linux/%s/%s", tbe, found.machine, library);
    void *handle = dlopen(text_of(&path), RTLD_NOW | RTLD_LOCAL);
    text_free(&path);
    struct tiling *t = handle ? calloc(1, sizeof *t) : NULL;
    size_t (*count)(void);
    int32_t (*fill)(struct ge_op_functions *, size_t);
    void *symbol = t ? dlsym(handle, "GetRegisteredOpNum") : NULL;
    memcpy(&count, &symbol, sizeof symbol);
    t = symbol ? t : (free(t), NULL);
    symbol = t ? dlsym(handle, "GetOpImplFunctions") : NULL;
    memcpy(&fill, &symbol, sizeof symbol);
    if (!symbol) {
        free(t);
        return;
    }
    t->count = count();
    t->table = calloc(t->count + 1, sizeof *t->table);
    if (!t->table || fill(t->table, t->count) != 0) {
        t->count = 0;
    }
    *found.tilings_end = t;
    found.tilings_end = &t->next;
}

static bool add_package(const char *root, const char *below, const char *library) {
    struct text tbe = {0};
    text_add(&tbe, "%s%s/op_impl/ai_core/tbe", root, below);
    load_tiling(text_of(&tbe), library);
    const bool there = read_index(text_of(&tbe));
    text_free(&tbe);
    return there;
}

/* The vendors that config.ini names, and CANN's own package. */
static bool add_opp(const char *opp) {
    static const char vendor[] = "libcust_opmaster_rt2.0.so", own[] = "libopmaster_rt2.0.so";
    bool there = false;
    char name[256];
    size_t size;
    struct text path = {0}, names = {0};
    text_add(&path, "%s/vendors/config.ini", opp);
    char *config = file_read_following(AT_FDCWD, text_of(&path), &size);
    if (config) {
        config_names(config, NULL, &names);
    }
    free(config);
    for (const char *at = text_of(&names); next_word(&at, ',', name, sizeof name);) {
        struct text below = {0};
        text_add(&below, "/vendors/%s", name);
        there |= add_package(opp, text_of(&below), vendor);
        text_free(&below);
    }
    text_free(&path);
    text_free(&names);
    return add_package(opp, "/built-in", own) || there;
}

static void open_all(void) {
    struct utsname system;
    char name[4096];
    bool there = false;
    found.kernels_end = &found.kernels;
    found.tilings_end = &found.tilings;
    found.code = STANDIN_NO_INDEX;
    if (uname(&system) != 0 || !standin_chip()) {
        standin_report("EZ9999", "there is no chip '%s'", aclrtGetSocName());
        return;
    }
    memcpy(found.machine, system.machine, sizeof found.machine);
    const char *custom = getenv("ASCEND_CUSTOM_OPP_PATH"), *opp = getenv("ASCEND_OPP_PATH");
    for (const char *at = custom ? custom : ""; next_word(&at, ':', name, sizeof name);) {
        there |= name[0] && add_package(name, "", "libcust_opmaster_rt2.0.so");
    }
    if (opp && *opp) {
        there |= add_opp(opp);
    }
    if (there) {
        found.code = 0;
    }
}

int standin_open_packages(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_all);
    if (found.code) {
        standin_report("EZ9999", "no package has a binary_info_config.json for %s",
                       aclrtGetSocName());
    }
    return found.code;
}

bool standin_has_type(const char *type) {
    for (const struct standin_kernel *k = found.kernels; k; k = k->next) {
        if (strcmp(k->type, type) == 0) {
            return true;
        }
    }
    return false;
}

const struct standin_kernel *standin_find_kernel(const char *type, const char *key) {
    for (const struct standin_kernel *k = found.kernels; k; k = k->next) {
        if (strcmp(k->type, type) == 0 && strcmp(k->key, key) == 0) {
            return k;
        }
    }
    return NULL;
}

const struct ge_op_functions *standin_find_tiling(const char *type) {
    for (const struct tiling *t = found.tilings; t; t = t->next) {
        for (size_t i = 0; i < t->count; i++) {
            if (strcmp(t->table[i].type, type) == 0 && t->table[i].tiling) {
                return &t->table[i];
            }
        }
    }
    return NULL;
}
