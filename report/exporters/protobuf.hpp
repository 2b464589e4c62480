// report/exporters/protobuf.hpp — the wire format of protocol buffers, as far as needed.
//
// A message is a string that fields are appended to. A field that holds another message takes the
// string of that message.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace vramscope::report {

class ProtobufMessage {
public:
    // A number; 0 is what a reader takes for one that is not there.
    ProtobufMessage& number(unsigned field, std::uint64_t value)
    {
        if (value != 0) {
            append_varint(field << 3);
            append_varint(value);
        }
        return *this;
    }

    // Bytes, a text or a message.
    ProtobufMessage& bytes(unsigned field, std::string_view value)
    {
        append_varint(field << 3 | kLengthDelimited);
        append_varint(value.size());
        bytes_ += value;
        return *this;
    }

    ProtobufMessage& message(unsigned field, const ProtobufMessage& value)
    {
        return bytes(field, value.bytes_);
    }

    // A packed list.
    ProtobufMessage& numbers(unsigned field, std::span<const std::uint64_t> values)
    {
        ProtobufMessage list;
        for (const std::uint64_t value : values)
            list.append_varint(value);
        return message(field, list);
    }

    const std::string& encoded() const noexcept { return bytes_; }

private:
    static constexpr unsigned kLengthDelimited = 2;

    void append_varint(std::uint64_t value) // seven bits a byte, the lowest first
    {
        for (; value >= 0x80; value >>= 7)
            bytes_ += static_cast<char>(value | 0x80);
        bytes_ += static_cast<char>(value);
    }

    std::string bytes_;
};

} // namespace vramscope::report
