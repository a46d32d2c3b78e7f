/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "../twin/ascgrad.h"
#include "commands.h"

extern const char help_txt[];

/* A piece of help.txt. */
struct piece {
    const char *at;
    size_t size;
};

static struct piece line_at(const char *at) {
    return (struct piece){at, strcspn(at, "\n")};
}

/* "= NAME: what" of command number index, and the text below it; false past the last one. */
static bool section(size_t index, struct piece *name, struct piece *what, struct piece *text) {
    for (const char *at = help_txt; *at;) {
        const struct piece line = line_at(at);
        const char *next = strstr(line.at, "\n= ");
        if (index-- == 0) {
            *name = (struct piece){line.at + 2, strcspn(line.at + 2, ":")};
            *what = (struct piece){name->at + name->size + 2, 0};
            what->size = (size_t)(line.at + line.size - what->at);
            text->at = line.at + line.size + 1;
            text->size = next ? (size_t)(next - text->at) : strlen(text->at);
            return true;
        }
        if (!next) break;
        at = next + 1;
    }
    return false;
}

static bool find_section(const char *command, struct piece *what, struct piece *text) {
    struct piece name;
    for (size_t i = 0; section(i, &name, what, text); i++)
        if (strlen(command) == name.size && strncmp(command, name.at, name.size) == 0) return true;
    return false;
}

/* Option number index of a command's text: its name, and the word for its value, if any. */
static bool option_at(struct piece text, size_t index, struct piece *name, struct piece *value,
                      struct piece *what) {
    for (const char *at = text.at; at < text.at + text.size; at += strcspn(at, "\n") + 1) {
        if (strncmp(at, "  --", 4) != 0 || index-- != 0) continue;
        const struct piece line = line_at(at);
        *name = (struct piece){at + 2, strcspn(at + 2, " \n")};
        *value = (struct piece){name->at + name->size, 0};
        if (value->at[0] == ' ' && value->at[1] != ' ') {
            value->at++;
            value->size = strcspn(value->at, " \n");
        }
        what->at = value->at + value->size;
        what->at += strspn(what->at, " ");
        what->size = (size_t)(line.at + line.size - what->at);
        return true;
    }
    return false;
}

static const char exits[] = "Exit status: 0 done, 1 wrong usage, 2 the operator refuses, 3 the "
                            "twin found a violation or a\n"
                            "row of check failed, 4 file trouble.\n";

bool help_print(const char *command) {
    struct piece name, what, text;
    if (command) {
        if (!find_section(command, &what, &text)) return false;
        printf("%.*s\n", (int)text.size, text.at);
        return true;
    }
    printf("usage: ascgrad COMMAND ...\n\n");
    for (size_t i = 0; section(i, &name, &what, &text); i++)
        printf("  %-12.*s%.*s\n", (int)name.size, name.at, (int)what.size, what.at);
    printf(
        "\nascgrad COMMAND --help says more. --option VALUE and --option=VALUE are the same.\n%s",
        exits);
    return true;
}

/* Text for roff: no line may begin with a dot, no backslash or minus may be read as roff's. */
static void roff(struct piece p) {
    for (size_t i = 0; i < p.size; i++)
        printf(p.at[i] == '\\' || p.at[i] == '-' ? "\\%c" : "%c", p.at[i]);
}

void help_man(void) {
    struct piece name, what, text, value;
    printf(".TH ASCGRAD 1 \"\" \"ascgrad %s\"\n.SH NAME\nascgrad \\- backward operators for Ascend "
           "NPUs: see them, run them on the CPU, check an installation\n.SH SYNOPSIS\n.B ascgrad\n"
           "COMMAND ...\n.SH COMMANDS\n",
           ascgrad_version());
    for (size_t i = 0; section(i, &name, &what, &text); i++) {
        printf(".SS ");
        roff(name);
        printf("\n");
        roff(what);
        printf("\n.PP\n.nf\n");
        const char *end = strstr(text.at, "\n\n");
        roff((struct piece){text.at, end && end < text.at + text.size ? (size_t)(end - text.at)
                                                                      : text.size});
        printf("\n.fi\n");
        for (size_t k = 0; option_at(text, k, &name, &value, &what); k++) {
            printf(".TP\n.B ");
            roff(name);
            printf(" ");
            roff(value);
            printf("\n");
            roff(what);
            printf("\n");
        }
    }
    printf(".SH EXIT STATUS\n%s", exits + sizeof "Exit status:");
}

static const char *operator_name(size_t index) {
    static struct ascgrad_op_info op;
    return ascgrad_describe((uint32_t)index, &op) ? op.type : NULL;
}

/* The families that the package is for; the twin has no chip of some. */
static const struct help_family families[] = {
#include "families.inc" /* made of packaging/socs.txt */
};
enum { FAMILIES = sizeof families / sizeof families[0] };

const struct help_family *help_family_of(const char *chip) {
    const struct help_family *best = NULL;
    for (size_t i = 0; i < FAMILIES; i++) {
        const size_t n = strlen(families[i].name);
        if (strncmp(chip, families[i].name, n) == 0 && (!best || n > strlen(best->name)))
            best = &families[i];
    }
    return best;
}

/* The first chip of a family, or NULL. */
static const char *first_of(const struct help_family *family) {
    const char *chip;
    for (uint32_t i = 0; (chip = ascgrad_soc_name(i)); i++)
        if (help_family_of(chip) == family) return chip;
    return NULL;
}

const struct help_family *help_family(size_t index) {
    for (size_t i = 0; i < FAMILIES; i++)
        if (first_of(&families[i]) && index-- == 0) return &families[i];
    return NULL;
}

const char *help_chip(const char *name) {
    const char *chip;
    for (uint32_t i = 0; (chip = ascgrad_soc_name(i)); i++)
        if (strcmp(chip, name) == 0) return chip;
    for (size_t i = 0; i < FAMILIES; i++)
        if (strcmp(families[i].name, name) == 0) return first_of(&families[i]);
    return NULL;
}

/* The families, then the chips that have not the name of one. */
static const char *chip_name(size_t index) {
    const struct help_family *family;
    const char *chip;
    for (size_t i = 0; (family = help_family(i)); i++)
        if (index-- == 0) return family->name;
    for (uint32_t i = 0; (chip = ascgrad_soc_name(i)); i++) {
        family = help_family_of(chip);
        if (!(family && strcmp(family->name, chip) == 0) && index-- == 0) return chip;
    }
    return NULL;
}

bool help_completion(const char *shell) {
    struct piece name, what, text, value, other;
    if (strcmp(shell, "bash") != 0) return false;
    printf(
        "# completion of ascgrad for bash, made by `ascgrad completion bash`\n"
        "_ascgrad() {\n  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
        "words=\n  COMPREPLY=()\n  case $before in\n  --soc) words='");
    for (size_t i = 0; chip_name(i); i++)
        printf("%s ", chip_name(i));
    printf("' ;;\n  --op | infer | tile | run | perf | check) words='");
    for (size_t i = 0; operator_name(i); i++)
        printf("%s ", operator_name(i));
    printf("' ;;\n  --roads) words='ge aclnn ge,aclnn' ;;\n  fusion) words='on off status' ;;\n"
           "  ascgrad | help) words='");
    for (size_t i = 0; section(i, &name, &what, &text); i++)
        printf("%.*s ", (int)name.size, name.at);
    printf("' ;;\n  esac\n  if [ -z \"$words\" ] || [[ $word == -* ]]; then\n"
           "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; section(i, &name, &what, &text); i++) {
        printf("    %.*s) words='", (int)name.size, name.at);
        for (size_t k = 0; option_at(text, k, &other, &value, &what); k++)
            printf("%.*s ", (int)other.size, other.at);
        printf("--help' ;;\n");
    }
    printf("    esac\n    [[ $word == -* ]] || words=\n  fi\n"
           "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n}\n"
           "complete -o bashdefault -o default -F _ascgrad ascgrad\n");
    return true;
}

enum help_option help_find_option(const char *command, const char *option) {
    struct piece what, text, name, value;
    const size_t n = strcspn(option, "=");
    if (!find_section(command, &what, &text)) return OPTION_UNKNOWN;
    for (size_t i = 0; option_at(text, i, &name, &value, &what); i++)
        if (name.size == n && strncmp(name.at, option, n) == 0)
            return value.size ? OPTION_WITH_VALUE : OPTION_SWITCH;
    return OPTION_UNKNOWN;
}

/* Letters to insert, delete or replace; 99 for long words. Case does not count. */
static size_t distance(const char *a, const char *b) {
    enum { MOST = 40 };
    size_t row[MOST + 1], m = strlen(a), n = strlen(b);
    if (m > MOST || n > MOST) return 99;
    for (size_t k = 0; k <= n; k++)
        row[k] = k;
    for (size_t i = 1; i <= m; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t k = 1; k <= n; k++) {
            const size_t above = row[k];
            size_t best = corner + ((a[i - 1] | 32) != (b[k - 1] | 32));
            if (above + 1 < best) best = above + 1;
            if (row[k - 1] + 1 < best) best = row[k - 1] + 1;
            corner = above;
            row[k] = best;
        }
    }
    return row[n];
}

void help_unknown(const char *what, const char *word, help_next *next) {
    char near[128] = "", all[1024] = "";
    size_t best = strlen(word) / 3 + 1, used = 0;
    for (size_t i = 0; next(i); i++) {
        const size_t d = distance(word, next(i));
        if (d <= best && (d < best || !near[0])) {
            best = d;
            snprintf(near, sizeof near, "%s", next(i));
        }
        if (used < sizeof all)
            used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", next(i));
    }
    complain("there is no %s '%s'; %s%s%s%s", what, word, near[0] ? "did you mean " : "", near,
             near[0] ? "? There are " : "there are ", all);
}

static const char *command_name(size_t index) {
    static char copy[32];
    struct piece name, what, text;
    if (!section(index, &name, &what, &text)) return NULL;
    snprintf(copy, sizeof copy, "%.*s", (int)name.size, name.at);
    return copy;
}

static const char *asked; /* whose options option_name gives */
static const char *option_name(size_t index) {
    static char copy[64];
    struct piece what, text, name, value;
    if (!find_section(asked, &what, &text) || !option_at(text, index, &name, &value, &what))
        return NULL;
    snprintf(copy, sizeof copy, "%.*s", (int)name.size, name.at);
    return copy;
}

void help_unknown_command(const char *word) {
    help_unknown("command", word, command_name);
}

void help_unknown_option(const char *command, const char *word) {
    char name[64];
    asked = command;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    if (!option_name(0))
        complain("there is no option '%s': ascgrad %s has none", name, command);
    else
        help_unknown("option", name, option_name);
}

void help_unknown_operator(const char *word) {
    help_unknown("operator", word, operator_name);
}

void help_unknown_chip(const char *word) {
    help_unknown("chip", word, chip_name);
}
