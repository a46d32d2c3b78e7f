/* SPDX-License-Identifier: Apache-2.0
 *
 * A stand-in for libplatform.so, to link and load our libraries on machines without CANN; never
 * installed. A "platform" here is an array of rows {label, key, value} that ends with a NULL label,
 * so that a test can describe a chip in C and pass it where GE passes its object. Old strings, as
 * in CANN.
 */
#include <string>

struct stub_row {
    const char *label, *key, *value;
};

namespace fe {

class __attribute__((visibility("default"))) PlatFormInfos {
  public:
    bool GetPlatformResWithLock(const std::string &label, const std::string &key,
                                std::string &value);
};

bool PlatFormInfos::GetPlatformResWithLock(const std::string &label, const std::string &key,
                                           std::string &value) {
    for (const auto *row = reinterpret_cast<const stub_row *>(this); row->label; row++) {
        if (label == row->label && key == row->key) {
            value = row->value;
            return true;
        }
    }
    return false;
}

} // namespace fe
