// tests/report/exporters/json_line_test.cpp — a line of JSON says what was put into it.
#include "report/exporters/json_line.hpp"

#include <array>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace vramscope::report {
namespace {

std::string text_on_a_line(std::string_view text)
{
    std::string out;
    JsonLine(out, text).end();
    return out.substr(8, out.size() - 10);
}

// The text as the JSON report writes it.
std::string text_in_the_report(std::string_view text)
{
    return nlohmann::json(std::string(text))
        .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

TEST(JsonLine, NestsAndSeparates)
{
    std::string out = "before\n";
    JsonLine line(out, "x");
    line.number("a", 1u).number("b", -2).hex("c", 0x1f).flag("d", true).null("e");
    line.open_array("f").open_object().text("g", "h").close().string("i").close();
    line.open_object("j").close().text_or_null("k", "").text_or_null("l", "m");
    line.end();
    EXPECT_EQ(out, "before\n{\"type\":\"x\",\"a\":1,\"b\":-2,\"c\":\"0x1f\",\"d\":true,\"e\":null,"
                   "\"f\":[{\"g\":\"h\"},\"i\"],\"j\":{},\"k\":null,\"l\":\"m\"}\n");
}

TEST(JsonLine, KeepsTheLargestNumbers)
{
    std::string out;
    JsonLine(out, "").number("a", UINT64_MAX).number("b", INT64_MIN).hex("c", UINT64_MAX).end();
    EXPECT_EQ(out, R"({"type":"","a":18446744073709551615,"b":-9223372036854775808,)"
                   R"("c":"0xffffffffffffffff"})"
                   "\n");
}

TEST(JsonLine, WritesTextsAsTheReportDoes)
{
    for (const std::string_view text :
         {"", "plain", "\"quotes\" and \\", "\x01\x1b[31m\x7f\b\f\n\r\t", "h\u00e9 \u20ac",
          "\U0001f600 and \U0010ffff", "two\nlines"})
        EXPECT_EQ(text_on_a_line(text), text_in_the_report(text)) << text;
    for (int byte = 0; byte < 0x80; ++byte)
        EXPECT_EQ(text_on_a_line(std::string(1, static_cast<char>(byte))),
                  text_in_the_report(std::string(1, static_cast<char>(byte))));
}

TEST(JsonLine, ReplacesWhatIsNoUtf8)
{
    EXPECT_EQ(text_on_a_line("a\xff\x62"), R"("a\ufffdb")");
    EXPECT_EQ(text_on_a_line("\xc0\x80"), R"("\ufffd\ufffd")");           // overlong
    EXPECT_EQ(text_on_a_line("\xe2\x82"), R"("\ufffd\ufffd")");           // cut
    EXPECT_EQ(text_on_a_line("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")"); // a surrogate
}

} // namespace
} // namespace vramscope::report
