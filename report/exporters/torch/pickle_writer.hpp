// report/exporters/torch/pickle_writer.hpp — a pickle of protocol 4, with what memory_viz can read.
//
// That page takes few opcodes, and no more than a hundred thousand items at once: they go in
// batches, as Python's own pickler writes them. Texts are written once, and named by number later.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "report/exporters/exporters.hpp"

namespace vramscope::report {

class PickleWriter {
public:
    explicit PickleWriter(const Sink& sink) : sink_(sink) { out_ = "\x80\x04"; }

    void finish()
    {
        out_ += '.';
        flush();
    }

    void none() { value('N'); }
    void flag(bool value) { this->value(value ? '\x88' : '\x89'); }
    void number(std::uint64_t number);
    void signed_number(std::int64_t number)
    {
        number < 0 ? small_negative(number) : this->number(static_cast<std::uint64_t>(number));
    }
    void real(double number);
    void text(std::string_view bytes);                    // which may be no UTF-8
    void pair(std::uint64_t first, std::uint64_t second); // as a tuple

    void begin_list() { begin(']', 'e', 1); }
    void begin_dict() { begin('}', 'u', 2); } // its items are keys and values in turn
    void end();
    // The list that was ended last is to be named later.
    std::uint64_t remember()
    {
        out_ += '\x94';
        return remembered_++;
    }
    void recall(std::uint64_t number);

private:
    struct Open {
        char store;          // opcode that stores a batch
        std::uint32_t parts; // values of an item
        std::uint32_t values = 0;
    };

    // Before each value: a batch is begun, and stored when it is full.
    void before_value();
    void begin(char make, char store, std::uint32_t parts);
    void value(char opcode)
    {
        before_value();
        out_ += opcode;
    }
    void small_negative(std::int64_t number);
    void little_endian(std::uint64_t number, int bytes);
    void flush()
    {
        sink_(out_);
        out_.clear();
    }

    static constexpr std::uint32_t kBatch = 1000;
    static constexpr std::size_t kPiece = 256 * 1024;

    const Sink& sink_;
    std::string out_;
    std::vector<Open> open_;
    std::uint64_t remembered_ = 0;
    std::map<std::string, std::uint64_t, std::less<>> texts_;
};

} // namespace vramscope::report
