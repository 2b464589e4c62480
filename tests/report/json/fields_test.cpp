// tests/report/json/fields_test.cpp — a described row as JSON and as a schema.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "report/json/schema.hpp"
#include "report/json/write.hpp"

namespace vramscope::report {

enum class Colour { red, green, none };
template <>
struct Words<Colour> {
    static constexpr format::Word<Colour> kAll[] = {
        {Colour::red, "red"}, {Colour::green, "green"}, {Colour::none, nullptr}};
};

struct Wheel {
    std::uint64_t spokes = 0;
};
template <>
struct Fields<Wheel> {
    static constexpr const char* kName = "wheel";
    static constexpr FieldList kAll{Field{"spokes", &Wheel::spokes}.at_least(1)};
};

struct Cart {
    std::string owner{};
    std::int32_t place = -1;
    bool loaded = false;
    std::uint64_t load = 7;
    std::uint64_t number = 31;
    Colour colour = Colour::none;
    std::vector<Wheel> wheels{};
    std::uint64_t width = 2, height = 3;
    std::vector<std::string> names{};
    std::vector<Wheel> spare{};

    std::size_t wheel_count() const { return wheels.size(); }
    const std::string& told_owner() const { return owner; }
};
template <>
struct Fields<Cart> {
    static constexpr const char* kName = "cart";
    static constexpr unsigned kMinorVersion = 2;
    static constexpr FieldList kAll{
        Field{"owner", OrNull{&Cart::owner}, "Who has it."},
        Field{"place", Ordinal{&Cart::place}},
        Field{"load", When{&Cart::loaded, &Cart::load}}.since(2),
        Field{"number", Hex{&Cart::number}},
        Field{"colour", &Cart::colour}.never("green"),
        Field{"wheels", &Cart::wheels, "Some."}.rows_at_most(4),
        Field{"size", Group{Field{"width", &Cart::width}, Field{"height", &Cart::height}}},
        Field{"names", IfAny{&Cart::names}}.since(1),
        Field{"kept_for", If{&Cart::loaded, OrNull{&Cart::told_owner}}},
        Field{"wheel_count", PageOnly{&Cart::wheel_count}},
        Field{"spare", OnRequest{&Cart::spare}},
    };
};

// A row that shows a part of another.
struct CartNumber {
    const Cart* cart;
};
template <>
struct Fields<CartNumber> {
    static constexpr const char* kName = "cart_number";
    static constexpr auto kAll =
        through(&CartNumber::cart, FieldList{Field{"number", Hex{&Cart::number}},
                                             Field{"wheel_count", PageOnly{&Cart::wheel_count}}});
};

struct Note {
    bool of_the_report = false;
    bool own = false;
};
template <>
struct Fields<Note> {
    static constexpr const char* kName = "note";
    static constexpr unsigned kMinorVersion = 1;
    static constexpr FieldList kAll{
        Field{"of_the_report", &Note::of_the_report}.since(6),
        Field{"own", &Note::own}.since(1),
    };
};

namespace {

template <typename Row>
Json json_of(const Row& row, Audience audience)
{
    Json json;
    write(json, row, audience);
    return json;
}

TEST(Fields, WhatIsNotKnownIsNullOrLeftOut)
{
    EXPECT_EQ(json_of(Cart{}, Audience::file),
              Json::parse(R"({"owner":null,"place":null,"load":null,"number":"0x1f","colour":null,
                              "wheels":[],"size":{"width":2,"height":3}})"));
}

TEST(Fields, WhatIsKnownStandsInTheOrderOfTheFields)
{
    const Cart cart{.owner = "",
                    .place = 0,
                    .loaded = true,
                    .colour = Colour::red,
                    .wheels = {{12}},
                    .names = {"a"}};
    EXPECT_EQ(json_of(cart, Audience::file).dump(),
              R"({"owner":null,"place":0,"load":7,"number":"0x1f","colour":"red",)"
              R"("wheels":[{"spokes":12}],"size":{"width":2,"height":3},"names":["a"],)"
              R"("kept_for":null})");
}

TEST(Fields, ThePageHasMembersOfItsOwn)
{
    const Cart cart{.wheels = {{1}, {2}}};
    EXPECT_FALSE(json_of(cart, Audience::file).contains("wheel_count"));
    EXPECT_EQ(json_of(cart, Audience::page)["wheel_count"], 2);
    EXPECT_EQ(json_of(CartNumber{&cart}, Audience::file).dump(), R"({"number":"0x1f"})");
    EXPECT_EQ(json_of(CartNumber{&cart}, Audience::page)["wheel_count"], 2);
}

TEST(Fields, WhatIsThereOnRequestIsInAWholeFileAlone)
{
    const Cart cart{.spare = {{5}}};
    EXPECT_FALSE(json_of(cart, Audience::file).contains("spare"));
    EXPECT_FALSE(json_of(cart, Audience::page).contains("spare"));
    EXPECT_EQ(json_of(cart, Audience::whole_file)["spare"].dump(), R"([{"spokes":5}])");
    EXPECT_EQ(json_of(Cart{}, Audience::whole_file)["spare"], Json::array());
}

TEST(Fields, ASchemaSaysTheSame)
{
    const Json schema = Schema().document<Cart>("A cart.");
    EXPECT_EQ(schema["required"], Json::parse(R"(["schema_version","owner","place","number",
                                                  "colour","wheels","size"])"));
    EXPECT_EQ(schema["properties"], Json::parse(R"({
        "schema_version": {"type": "string", "pattern": "^1\\.[0-9]+\\.[0-9]+$"},
        "owner": {"type": ["string", "null"], "description": "Who has it."},
        "place": {"type": ["integer", "null"], "minimum": 0},
        "load": {"type": ["integer", "null"], "minimum": 0, "description": "Since 1.2."},
        "number": {"type": "string", "pattern": "^0x[0-9a-f]+$"},
        "colour": {"enum": ["red", null]},
        "wheels": {"type": "array", "items": {"$ref": "#/$defs/wheel"}, "maxItems": 4,
                   "description": "Some."},
        "size": {"type": "object", "required": ["width", "height"],
                 "properties": {"width": {"type": "integer", "minimum": 0},
                                "height": {"type": "integer", "minimum": 0}}},
        "names": {"type": "array", "items": {"type": "string"}, "description": "Since 1.1."},
        "kept_for": {"type": ["string", "null"]},
        "spare": {"type": "array", "items": {"$ref": "#/$defs/wheel"}}})"));
    EXPECT_EQ(schema["$defs"]["wheel"]["properties"]["spokes"]["minimum"], 1);
}

TEST(Fields, ADocumentThatIsYoungerThanTheReportHadTheReportsMembersFromTheFirstOn)
{
    EXPECT_EQ(Schema().document<Note>("")["required"], Json::parse(R"(["schema_version"])"));
    const Json schema = Schema(6).document<Note>("");
    EXPECT_EQ(schema["required"], Json::parse(R"(["schema_version","of_the_report"])"));
    EXPECT_FALSE(schema["properties"]["of_the_report"].contains("description"));
    EXPECT_EQ(schema["properties"]["own"]["description"], "Since 1.1.");
}

} // namespace
} // namespace vramscope::report
