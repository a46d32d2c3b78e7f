/* SPDX-License-Identifier: Apache-2.0
 *
 * `npu-smi info` prints a table with two rows a chip; the first begins with the number of the card
 * and the name. On A2 the name is the chip's (910B3). On A3 it is only Ascend910, and the board
 * page
 * (`npu-smi info -t board -i CARD -c 0`) has the rest as its NPU Name (9391, 9382, ...). A first
 * generation 910 has another letter behind the number, or the bare name and no NPU Name.
 */
#include "chips.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ask.h"

const char *chip_short_name(const char *name) {
    if (strncmp(name, "Ascend", 6) == 0) name += 6;
    if (strncmp(name, "910_93", 6) == 0) return "ascend910_93";
    if (strncmp(name, "910B", 4) == 0 && isdigit((unsigned char)name[4])) return "ascend910b";
    if (strcmp(name, "910") == 0) return "";
    if (strncmp(name, "910", 3) == 0) return "ascend910";
    if (strncmp(name, "950", 3) == 0) return "ascend950";
    if (strncmp(name, "350", 3) == 0) return "ascend350";
    if (strncmp(name, "960DT", 5) == 0) return "ascend960dt";
    if (strncmp(name, "310P", 4) == 0) return "ascend310p";
    if (strncmp(name, "310B", 4) == 0) return "ascend310b";
    if (strncmp(name, "310", 3) == 0) return "ascend310";
    return NULL;
}

/* sscanf stops at no line's end of its own accord. */
static const char *alone(struct line line, char buffer[512]) {
    snprintf(buffer, 512, "%.*s", (int)(line.size < 512 ? line.size : 511), line.s);
    return buffer;
}

static const char *ask_board(int card) {
    char number[16], name[32], part[512];
    const char *chip = NULL; /* as long as the board says nothing, it may be anything */
    struct text board = {0};
    struct line line;
    snprintf(number, sizeof number, "%d", card);
    ask((const char *const[]){"npu-smi", "info", "-t", "board", "-i", number, "-c", "0", NULL},
        &board);
    for (const char *at = text_of(&board); next_line(&at, &line);) {
        if (!chip) chip = "ascend910";
        if (sscanf(alone(line, part), " NPU Name : %31s", name) == 1 && strncmp(name, "93", 2) == 0)
            chip = "ascend910_93";
    }
    text_free(&board);
    return chip;
}

void chips_of_machine(struct text *chips) {
    char name[64], part[512];
    int card;
    struct text list = {0};
    struct line line;
    ask((const char *const[]){"npu-smi", "info", NULL}, &list);
    for (const char *at = text_of(&list); next_line(&at, &line);) {
        if (sscanf(alone(line, part), "| %d %63s", &card, name) != 2) continue;
        const char *chip = chip_short_name(name);
        if (chip && !*chip) chip = ask_board(card);
        if (chip && !word_in(chip, text_of(chips), ','))
            text_add(chips, "%s%s", chips->size ? "," : "", chip);
    }
    text_free(&list);
}
