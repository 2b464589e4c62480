// report/page/packer.hpp — a document of ours as a page has it: small, and safe to read.
//
// Any document, under its own names. A list of objects becomes columns; texts, frames and call
// stacks stand once, and are named by number: a program's call stacks share most of their frames.
// web/src/data.js has it back as it was, without knowing a name. All text is made safe to read:
// control characters and marks of direction become visible.
//
//   {"$name": 3}                        a text
//   {"texts": [3, 4]}                   a list of texts
//   {"stack": 5}, {"frame": 6}          a call stack, a frame
//   {"rows": 2, "columns": {"bytes": [1, 2], "process": 0}, "all": 9}
//                                       a list of objects: here the first two of nine. In place of
//                                       a column there may be the value that all rows have; of
//                                       objects in a row, a list of them, with the rows that
//                                       have "none".
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/json/documents.hpp"
#include "report/page/limits.hpp"

namespace vramscope::report {

class Packer {
public:
    explicit Packer(const PageLimits& limits) : limits_(limits) {}

    // `name`: the member that it is of.
    Json packed(const Json& value, std::string_view name = {});

    // The members `strings`, `frames`, `stacks` and `thinned`, which come last.
    void add_tables(Json& document);

private:
    using Cells = std::vector<const Json*>;

    Json object(const Json& value, std::string_view name);
    Json list(const Json& value, std::string_view name);
    Json rows(const Cells& objects, std::string_view name);
    void add_column(Json& columns, const std::string& name, const Cells& cells);
    Json objects_of_rows(const Cells& cells, std::string_view name);
    Json number_of_text(const Json& text);
    Json number_of_frame(const Json& frame);
    Json number_of_stack(const Json& stack);
    std::size_t most_rows(std::string_view name) const;
    void note_left_out(std::string_view name, std::size_t shown, std::size_t all);

    const PageLimits limits_;
    std::map<std::string, std::size_t, std::less<>> texts_{{"", 0}};
    Json strings_ = Json::array({""});
    std::map<std::string, std::size_t> frame_numbers_; // by what is known of them, as JSON
    Json frames_ = Json::array();
    std::map<std::vector<std::size_t>, std::size_t> stack_numbers_;
    Json stacks_ = Json::array();
    // Rows that are here, and all, by the words of their list's name.
    std::map<std::string, std::pair<std::size_t, std::size_t>> left_out_;
    std::size_t cut_texts_ = 0;
};

} // namespace vramscope::report
