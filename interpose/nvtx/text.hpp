// interpose/nvtx/text.hpp — the texts of NVTX: plain, wide, or registered before.
#pragma once

#include <cstdint>
#include <cwchar>
#include <string_view>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

namespace vramscope::nvtx {

// Wide text is rare and only labels: anything beyond ASCII becomes '?'.
class Narrow {
public:
    explicit Narrow(const wchar_t* wide)
    {
        for (; wide && *wide && length_ < sizeof text_; ++wide)
            text_[length_++] = *wide < 0x80 ? static_cast<char>(*wide) : '?';
    }
    std::string_view view() const { return {text_, length_}; }

private:
    char text_[256];
    std::size_t length_ = 0;
};

template <class Use>
auto with_text(const char* text, Use use)
{
    return use(std::string_view(text ? text : ""));
}
template <class Use>
auto with_text(const wchar_t* text, Use use)
{
    return use(Narrow(text).view());
}

// `type` is an nvtxMessageType_t. The handle of a registered string is our copy of its text.
template <class Use>
auto with_message(std::uint32_t type, const nvtxMessageValue_t& message, Use use)
{
    switch (type) {
    case NVTX_MESSAGE_TYPE_ASCII:
        return with_text(message.ascii, use);
    case NVTX_MESSAGE_TYPE_UNICODE:
        return with_text(message.unicode, use);
    case NVTX_MESSAGE_TYPE_REGISTERED:
        return with_text(reinterpret_cast<const char*>(message.registered), use);
    default:
        return with_text("", use);
    }
}

} // namespace vramscope::nvtx
