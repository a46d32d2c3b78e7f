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

const char *chip_short_name(const char *name) {
    if (strncmp(name, "Ascend", 6) == 0) name += 6;
    if (strncmp(name, "910_93", 6) == 0) return "ascend910_93";
    if (strncmp(name, "910B", 4) == 0 && isdigit((unsigned char)name[4])) return "ascend910b";
    if (strcmp(name, "910") == 0) return "";
    if (strncmp(name, "910", 3) == 0) return "ascend910";
    if (strncmp(name, "950", 3) == 0) return "ascend950";
    if (strncmp(name, "310P", 4) == 0) return "ascend310p";
    if (strncmp(name, "310B", 4) == 0) return "ascend310b";
    if (strncmp(name, "310", 3) == 0) return "ascend310";
    return NULL;
}

static const char *ask_board(int card) {
    char command[96], line[512], name[32];
    const char *chip = "ascend910";
    snprintf(command, sizeof command, "npu-smi info -t board -i %d -c 0 2>/dev/null", card);
    FILE *board = popen(command, "r");
    while (board && fgets(line, sizeof line, board))
        if (sscanf(line, " NPU Name : %31s", name) == 1 && strncmp(name, "93", 2) == 0)
            chip = "ascend910_93";
    if (board) pclose(board);
    return chip;
}

void chips_of_machine(struct text *chips) {
    char line[512], name[64];
    int card;
    FILE *list = popen("npu-smi info 2>/dev/null", "r");
    while (list && fgets(line, sizeof line, list)) {
        if (sscanf(line, "| %d %63s", &card, name) != 2) continue;
        const char *chip = chip_short_name(name);
        if (chip && !*chip) chip = ask_board(card);
        if (chip && !word_in(chip, text_of(chips), ','))
            text_add(chips, "%s%s", chips->size ? "," : "", chip);
    }
    if (list) pclose(list);
}
