/* SPDX-License-Identifier: Apache-2.0
 *
 * The one question we ask a C++ class of CANN. CANN is built with libstdc++'s old string, so this
 * file must be too: -D_GLIBCXX_USE_CXX11_ABI=0. The class is declared with just the method we call;
 * we never make one.
 */
#include "platform.h"

#include <string>

#if _GLIBCXX_USE_CXX11_ABI
#error "compile platform.cpp with -D_GLIBCXX_USE_CXX11_ABI=0, as CANN is"
#endif

namespace fe {
class __attribute__((visibility("default"))) PlatFormInfos {
  public:
    bool GetPlatformResWithLock(const std::string &label, const std::string &key,
                                std::string &value);
};
} // namespace fe

extern "C" void ascgrad_platform_value(void *platform, const char *label, const char *key,
                                       char *text, size_t size) {
    text[0] = '\0';
    try {
        std::string value;
        auto *infos = static_cast<fe::PlatFormInfos *>(platform);
        if (infos->GetPlatformResWithLock(label, key, value) && value.size() < size) {
            memcpy(text, value.c_str(), value.size() + 1);
        }
    } catch (...) {
        /* Out of memory, most likely. C above us cannot unwind; an empty value is refused there. */
        text[0] = '\0';
    }
}
