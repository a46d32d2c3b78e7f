/* SPDX-License-Identifier: Apache-2.0
 *
 * irdump: prints the IR of the operators. Linked with register_ir.cpp, it stands in for GE: the
 * methods of ge::Operator that REG_OP calls only write down what they are told. Always built with
 * our own graph/operator.h, as it replaces GE and runs on the build machine.
 *
 *     irdump --json        the IR, for packaging and for the recorded-IR test
 *     irdump --c-table     a C file with ascgrad_ir_table (core/ir.h)
 *     irdump --op-list     ASCGRAD_OP(ExpSegsumGrad, exp_segsum_grad), one line per operator
 *     irdump --columns     ASCGRAD_COLUMN(ExpSegsumGrad, exp_segsum_grad, 1, 1), one line per
 * column of dtypes: its number, and that of the first column with the same kernel irdump --dtypes
 * OP   the DTYPE_<NAME> macros the kernel compiler defines, for the twin
 */
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../core/node.h"
#include "graph/operator_reg.h"

namespace {

using Strings = std::vector<std::string>;

struct Arg {
    std::string name;
    bool optional;
    Strings dtypes;  /* as written: entry i of every argument belongs to combination i */
    size_t in_place; /* as in core/ir.h */
};

struct Attr {
    std::string name;
    ascgrad_attr_kind kind;
    bool required;
    int64_t initial;
    float initial_f;
};

struct Op {
    std::string type;
    std::vector<Arg> in, out;
    std::vector<Attr> attr;
};

/* A function's static: the REG_OP objects of the other file may be constructed before anything
 * here. */
std::vector<Op> &ops() {
    static std::vector<Op> all;
    return all;
}

[[noreturn]] void fail(const std::string &what) {
    std::fprintf(stderr, "irdump: %s\n", what.c_str());
    std::exit(1);
}

std::string snake(const std::string &type) {
    std::string s;
    for (size_t i = 0; i < type.size(); i++) {
        if (i > 0 && std::isupper(type[i]) && !std::isupper(type[i - 1])) {
            s += '_';
        }
        s += static_cast<char>(std::tolower(type[i]));
    }
    return s;
}

/* "TensorType({DT_FLOAT16, DT_FLOAT})" -> fp16, fp32 */
Strings dtypes(const std::string &arg, const std::string &text) {
    Strings list;
    for (size_t at = text.find("DT_"); at != std::string::npos; at = text.find("DT_", at + 1)) {
        const std::string word = text.substr(at, text.find_first_of(", })", at) - at);
        if (word == "DT_FLOAT") {
            list.push_back("fp32");
        } else if (word == "DT_FLOAT16") {
            list.push_back("fp16");
        } else if (word == "DT_BF16") {
            list.push_back("bf16");
        } else {
            fail(ops().back().type + "." + arg + ": dtype " + word + " is not known here");
        }
    }
    if (list.empty()) {
        fail(ops().back().type + "." + arg + ": no dtypes in " + text);
    }
    return list;
}

void add_attr(const char *name, ascgrad_attr_kind kind, bool required, int64_t initial,
              float initial_f = 0) {
    ops().back().attr.push_back({name, kind, required, initial, initial_f});
}

void add_list(const char *name, ascgrad_attr_kind kind, bool empty) {
    if (!empty) {
        fail(ops().back().type + "." + name + ": a list can only be empty by default");
    }
    add_attr(name, kind, false, 0);
}

} // namespace

/* Of register_ir.cpp: here every type is offered. */
extern "C" bool ascgrad_offers(const char *type);

bool ascgrad_offers(const char *) {
    return true;
}

/* Of register_ir.cpp: what stands behind the blocks. */
bool ascgrad_in_place(const char *type, const char *input, const char *output);

bool ascgrad_in_place(const char *type, const char *input, const char *output) {
    for (Op &op : ops()) {
        for (size_t i = 0; op.type == type && i < op.in.size(); i++) {
            for (Arg &out : op.out) {
                if (op.in[i].name == input && out.name == output && op.in[i].dtypes == out.dtypes) {
                    out.in_place = i + 1;
                    return true;
                }
            }
        }
    }
    fail(std::string(type) + ": " + output + " cannot have the memory of " + input);
}

namespace ge {

AscendString::AscendString(const char *name) : name_(std::make_shared<std::string>(name)) {}

const char *AscendString::GetString() const {
    return name_ ? name_->c_str() : "";
}

Operator::Operator(const AscendString &, const AscendString &type) {
    ops().push_back({type.GetString(), {}, {}, {}});
}

void Operator::InputRegister(const char *name, const char *types) {
    ops().back().in.push_back({name, false, dtypes(name, types), 0});
}

void Operator::OptionalInputRegister(const char *name, const char *types) {
    ops().back().in.push_back({name, true, dtypes(name, types), 0});
}

void Operator::OutputRegister(const char *name, const char *types) {
    ops().back().out.push_back({name, false, dtypes(name, types), 0});
}

void Operator::RequiredAttrWithTypeRegister(const char *name, const char *type) {
    static const struct {
        const char *type;
        ascgrad_attr_kind kind;
    } known[] = {{"Int", ASCGRAD_ATTR_INT},
                 {"Bool", ASCGRAD_ATTR_BOOL},
                 {"Float", ASCGRAD_ATTR_FLOAT},
                 {"ListInt", ASCGRAD_ATTR_LIST_INT},
                 {"ListFloat", ASCGRAD_ATTR_LIST_FLOAT}};
    for (const auto &row : known) {
        if (std::string(type) == row.type) {
            return add_attr(name, row.kind, true, 0);
        }
    }
    fail(ops().back().type + "." + name + ": attribute type " + type + " is not known here");
}

void Operator::AttrRegister(const char *name, int64_t value) {
    add_attr(name, ASCGRAD_ATTR_INT, false, value);
}

void Operator::AttrRegister(const char *name, bool value) {
    add_attr(name, ASCGRAD_ATTR_BOOL, false, value);
}

void Operator::AttrRegister(const char *name, float value) {
    add_attr(name, ASCGRAD_ATTR_FLOAT, false, 0, value);
}

void Operator::AttrRegister(const char *name, const std::vector<int64_t> &value) {
    add_list(name, ASCGRAD_ATTR_LIST_INT, value.empty());
}

void Operator::AttrRegister(const char *name, const std::vector<float> &value) {
    add_list(name, ASCGRAD_ATTR_LIST_FLOAT, value.empty());
}

OperatorCreatorRegister::OperatorCreatorRegister(
    const char *type, const std::function<Operator(const AscendString &)> &create) {
    create(AscendString(type)); /* the constructor of the class calls all of the above, in order */
}

} // namespace ge

namespace {

std::string quoted(const Strings &list) {
    std::string s;
    for (const std::string &item : list) {
        s += (s.empty() ? "\"" : ", \"") + item + "\"";
    }
    return s;
}

void json_args(const char *title, const Op &op, const std::vector<Arg> &args) {
    std::printf("    \"%s\": [", title);
    for (size_t i = 0; i < args.size(); i++) {
        std::printf("%s\n      {\"name\": \"%s\", \"kind\": \"%s\", \"dtypes\": [%s]", i ? "," : "",
                    args[i].name.c_str(), args[i].optional ? "optional" : "required",
                    quoted(args[i].dtypes).c_str());
        if (args[i].in_place) {
            std::printf(", \"in_place\": \"%s\"", op.in[args[i].in_place - 1].name.c_str());
        }
        std::printf("}");
    }
    std::printf("%s],\n", args.empty() ? "" : "\n    ");
}

/* The fewest digits that give the value back: 1e-05, and 1.0 rather than 1. */
std::string shortest(float value) {
    char text[32];
    for (int digits = 1; digits <= 9; digits++) { /* libstdc++ 10 has no std::to_chars for floats */
        std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
        if (std::strtof(text, nullptr) == value) break;
    }
    const std::string s = text;
    return s.find_first_of(".en") == std::string::npos ? s + ".0" : s;
}

std::string json_default(const Attr &attr) {
    switch (attr.kind) {
    case ASCGRAD_ATTR_INT:
        return std::to_string(attr.initial);
    case ASCGRAD_ATTR_BOOL:
        return attr.initial ? "true" : "false";
    case ASCGRAD_ATTR_FLOAT:
        return shortest(attr.initial_f);
    default:
        return "[]";
    }
}

void json() {
    std::printf("[");
    for (size_t n = 0; n < ops().size(); n++) {
        const Op &op = ops()[n];
        std::printf("%s\n  {\n    \"type\": \"%s\",\n    \"kernel\": \"%s\",\n", n ? "," : "",
                    op.type.c_str(), snake(op.type).c_str());
        json_args("inputs", op, op.in);
        json_args("outputs", op, op.out);
        std::printf("    \"attrs\": [");
        for (size_t i = 0; i < op.attr.size(); i++) {
            const Attr &attr = op.attr[i];
            std::printf("%s\n      {\"name\": \"%s\", \"type\": \"%s\", \"required\": %s",
                        i ? "," : "", attr.name.c_str(), ascgrad_attr_kind_name(attr.kind),
                        attr.required ? "true" : "false");
            if (!attr.required) {
                std::printf(", \"default\": %s", json_default(attr).c_str());
            }
            std::printf("}");
        }
        std::printf("%s]\n  }", op.attr.empty() ? "" : "\n    ");
    }
    std::printf("\n]\n");
}

std::string joined(const Strings &list) {
    std::string s;
    for (const std::string &item : list) {
        s += (s.empty() ? "" : ",") + item;
    }
    return s;
}

void c_args(const char *member, const std::vector<Arg> &args) {
    std::printf("        .%s = {\n", member);
    for (const Arg &arg : args) {
        std::printf("            {\"%s\", %s, \"%s\", %zu},\n", arg.name.c_str(),
                    arg.optional ? "true" : "false", joined(arg.dtypes).c_str(), arg.in_place);
    }
    std::printf("        },\n");
}

void c_table() {
    std::printf("/* Generated by irdump from op_proto/inc/ascgrad_ops.h. Do not edit. */\n"
                "#include \"ir.h\"\n\nconst struct ascgrad_ir ascgrad_ir_table[] = {\n");
    for (const Op &op : ops()) {
        if (op.in.size() > ASCGRAD_MAX_INPUTS || op.out.size() > ASCGRAD_MAX_OUTPUTS ||
            op.attr.size() > ASCGRAD_MAX_ATTRS) {
            fail(op.type + ": more inputs, outputs or attributes than core/ir.h has room for");
        }
        std::printf("    {\n        .type = \"%s\",\n        .kernel = \"%s\",\n", op.type.c_str(),
                    snake(op.type).c_str());
        std::printf("        .inputs = %zu,\n        .outputs = %zu,\n        .attrs = %zu,\n",
                    op.in.size(), op.out.size(), op.attr.size());
        c_args("in", op.in);
        c_args("out", op.out);
        if (!op.attr.empty()) {
            std::printf("        .attr = {\n");
        }
        for (const Attr &attr : op.attr) {
            static const char *const kinds[] = {"INT", "BOOL", "FLOAT", "LIST_INT", "LIST_FLOAT"};
            std::printf("            {\"%s\", ASCGRAD_ATTR_%s, %s, %lld, %sf},\n",
                        attr.name.c_str(), kinds[attr.kind], attr.required ? "true" : "false",
                        static_cast<long long>(attr.initial), shortest(attr.initial_f).c_str());
        }
        std::printf("%s    },\n", op.attr.empty() ? "" : "        },\n");
    }
    std::printf("};\n\nconst uint32_t ascgrad_ir_count = %zu;\n", ops().size());
}

void op_list() {
    for (const Op &op : ops()) {
        std::printf("ASCGRAD_OP(%s, %s)\n", op.type.c_str(), snake(op.type).c_str());
    }
}

/* Whether two columns differ in what is always there: only then there are kernels for both. The
 * dtypes of an optional input are no part of the key by which a kernel is found. */
bool same_kernel(const Op &op, size_t a, size_t b) {
    bool same = true;
    for (const Arg &arg : op.in) {
        same &= arg.optional || arg.dtypes[a] == arg.dtypes[b];
    }
    for (const Arg &arg : op.out) {
        same &= arg.dtypes[a] == arg.dtypes[b];
    }
    return same;
}

/* The first column that has the kernel of this one. */
size_t kernel_of(const Op &op, size_t column) {
    size_t first = 0;
    while (!same_kernel(op, first, column)) {
        first++;
    }
    return first;
}

void columns() {
    for (const Op &op : ops()) {
        for (size_t c = 0; c < op.in[0].dtypes.size(); c++) {
            std::printf("ASCGRAD_COLUMN(%s, %s, %zu, %zu)\n", op.type.c_str(),
                        snake(op.type).c_str(), c, kernel_of(op, c));
        }
    }
}

void dtype_macro(const Arg &arg, size_t column) {
    std::string name = arg.name;
    for (char &c : name) {
        c = static_cast<char>(std::toupper(c));
    }
    const std::string &dtype = arg.dtypes[column];
    std::printf("#define DTYPE_%s %s\n", name.c_str(),
                dtype == "fp32"   ? "float"
                : dtype == "fp16" ? "half"
                                  : "bfloat16_t");
}

/* An optional input may be absent, and then the kernel compiler defines no macro for it: neither do
 * we. */
void dtype_macros(const std::string &wanted) {
    for (const Op &op : ops()) {
        if (op.type != wanted && snake(op.type) != wanted) {
            continue;
        }
        std::printf("/* Generated by irdump from op_proto/inc/ascgrad_ops.h. Do not edit. */\n");
        for (size_t c = 0; c < op.in[0].dtypes.size(); c++) {
            std::printf("#%s TWIN_COLUMN == %zu\n", c ? "elif" : "if", c);
            if (kernel_of(op, c) != c) {
                std::printf("#define TWIN_NO_KERNEL /* column %zu has it */\n", kernel_of(op, c));
                continue;
            }
            for (const Arg &arg : op.in) {
                if (!arg.optional) {
                    dtype_macro(arg, c);
                }
            }
            for (const Arg &arg : op.out) {
                dtype_macro(arg, c);
            }
        }
        std::printf("#endif\n");
        return;
    }
    fail("no operator " + wanted);
}

/* Every argument has as many dtypes, and core/node.c counts columns in 32 bits. */
void check_columns() {
    for (const Op &op : ops()) {
        size_t count = op.in.empty() ? 0 : op.in[0].dtypes.size();
        bool same = count > 0 && count <= 32;
        for (const Arg &arg : op.in) {
            same &= arg.dtypes.size() == count;
        }
        for (const Arg &arg : op.out) {
            same &= arg.dtypes.size() == count;
        }
        if (!same) {
            fail(op.type + ": the lists of dtypes differ in length, or are longer than 32");
        }
    }
}

} // namespace

int main(int argc, char **argv) {
    const std::string mode = argc > 1 ? argv[1] : "";
    check_columns();
    if (argc == 2 && mode == "--json") {
        json();
    } else if (argc == 2 && mode == "--c-table") {
        c_table();
    } else if (argc == 2 && mode == "--op-list") {
        op_list();
    } else if (argc == 2 && mode == "--columns") {
        columns();
    } else if (argc == 3 && mode == "--dtypes") {
        dtype_macros(argv[2]);
    } else {
        fail("usage: irdump --json | --c-table | --op-list | --columns | --dtypes OP");
    }
    return std::fflush(stdout) == 0 ? 0 : 1;
}
