// report/json/schema.hpp — the JSON Schema of a document, made of its rows' descriptions.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "report/json/write.hpp"
#include "report/model/memory/pool_stats.hpp"

namespace vramscope::report {

template <typename Get>
inline constexpr bool kGroups = false;
template <typename... Get>
inline constexpr bool kGroups<Group<Get...>> = true;

// What a document has to have besides, where a member of it has one value, and where it has not.
void add_condition(Json& schema, const std::pair<const char*, const char*>& has, const Json& then,
                   const Json& otherwise);

// Of a text or a number: nothing but these.
void set_values(Json& property, Json values);

// What is said of the members of an object.
struct ObjectSchema {
    Json required = Json::array();
    Json properties = Json::object();

    void add(std::string_view name, Json property, bool is_required);
    Json json(std::string_view says = {}) const;
};

// The schema of a value that has no parts: of JSON's types, by their names.
namespace plain_schema {
Json of_type(const char* type);
Json count();
Json hex_number();
Json text_or_null();
Json always_true();
Json list_of(Json rows);
Json lines();
Json any_of(Json values);
Json object_of(Json values);
Json or_null(Json schema);
} // namespace plain_schema

class Schema {
public:
    // `with_report`: the document began when the report was at 1.N. Rows that both have say when
    // the report got their members, which is a larger number than the document's own.
    explicit Schema(unsigned with_report = 0) : with_report_(with_report) {}

    // `command`: what writes it. `more`: what is to be known beside what is true of each document.
    template <Described Row>
    Json document(std::string_view command, std::string_view more = {})
    {
        minor_ = Fields<Row>::kMinorVersion;
        ObjectSchema object = versioned();
        add_members<Row>(Fields<Row>::kAll, object);
        return whole(Fields<Row>::kName, command, more, object);
    }

    // The members of a row, added to those that an object has.
    template <typename Row, typename List>
    void add_members(const List& fields, ObjectSchema& object)
    {
        fields.for_each([&](const auto& field) {
            using Get = std::remove_cvref_t<decltype(field.get)>;
            if constexpr (!kForPageOnly<Get>)
                add_member(object, {field.name, field.says, field.added, field.bounds},
                           of_member<Row>(field.get), kIsPresent<ValueOf<Get, Row>>);
        });
    }

    template <typename Value>
    Json of()
    {
        using namespace plain_schema;
        if constexpr (Described<Value>)
            return reference<Value>();
        else if constexpr (Meaningful<Value>)
            return of_meaning<Value>();
        else if constexpr (kIsPresent<Value>)
            return of_present<std::remove_cvref_t<decltype(*std::declval<Value>().value)>>();
        else if constexpr (kIsKeyed<Value>)
            return of_keys<decltype(Value::pairs)>();
        else if constexpr (std::is_enum_v<Value>)
            return of_words<Value>();
        else if constexpr (std::same_as<Value, HexNumber>)
            return hex_number();
        else if constexpr (std::same_as<Value, RawBytes>)
            return text_or_null();
        else if constexpr (std::same_as<Value, Notices>)
            return lines();
        else if constexpr (std::same_as<Value, CudaResult> ||
                           std::same_as<Value, std::filesystem::path> ||
                           std::is_convertible_v<const Value&, std::string_view>)
            return of_type("string");
        else if constexpr (requires(Value value) { value.has_value(); } || std::is_pointer_v<Value>)
            return or_null(of<std::remove_cvref_t<decltype(*std::declval<Value>())>>());
        else
            return of_plain<Value>();
    }

    // What references name.
    const Json& definitions() const { return definitions_; }

private:
    // What a field says of its member.
    struct Said {
        std::string_view name, says;
        unsigned added;
        const Bounds& bounds;
    };

    template <typename Row, typename Get>
    Json of_member(const Get& get)
    {
        if constexpr (kGroups<Get>) {
            ObjectSchema object;
            add_members<Row>(get.fields, object);
            return object.json();
        } else if constexpr (requires { requires kGroups<decltype(get.get)>; }) {
            return kIsPresent<ValueOf<Get, Row>> ? of_member<Row>(get.get)
                                                 : plain_schema::or_null(of_member<Row>(get.get));
        } else {
            return of<ValueOf<Get, Row>>();
        }
    }

    template <typename Value>
    Json of_plain()
    {
        using namespace plain_schema;
        if constexpr (std::same_as<Value, bool>)
            return of_type("boolean");
        else if constexpr (std::is_unsigned_v<Value>)
            return count();
        else if constexpr (std::is_integral_v<Value>)
            return of_type("integer");
        else if constexpr (std::is_floating_point_v<Value> ||
                           requires { std::variant_size<Value>::value; })
            return of_type("number");
        else
            return list_of(of<typename Value::value_type>());
    }

    // What is left out where it is false is true where it is.
    template <typename Value>
    Json of_present()
    {
        if constexpr (std::same_as<Value, bool>)
            return plain_schema::always_true();
        else
            return of<Value>();
    }

    template <typename Pairs>
    Json of_keys()
    {
        using Key = std::remove_cvref_t<decltype(std::declval<Pairs>().begin()->first)>;
        using Value = std::remove_cvref_t<decltype(std::declval<Pairs>().begin()->second)>;
        if constexpr (std::same_as<Pairs, NamedCounts>) {
            ObjectSchema object;
            for (const auto& [key, count] : PoolStats{}.named())
                object.add(key, of<Value>(), true);
            return object.json();
        } else {
            Json object = plain_schema::object_of(of<Value>());
            if constexpr (std::is_enum_v<Key>)
                object["propertyNames"] = of<Key>();
            return object;
        }
    }

    template <typename Enum>
    Json of_words()
    {
        Json words = Json::array();
        for (const auto& row : Words<Enum>::kAll)
            row.word ? write_text(row_of(words), row.word) : static_cast<void>(row_of(words));
        if constexpr (requires { Words<Enum>::kOtherwise; }) // a log may hold any number
            add_word(words, Words<Enum>::kOtherwise);
        Json values = plain_schema::any_of(std::move(words));
        if constexpr (requires { Words<Enum>::kSays; })
            values["description"] = Words<Enum>::kSays;
        if constexpr (requires { Words<Enum>::kName; })
            return defined(Words<Enum>::kName, std::move(values));
        else
            return values;
    }

    template <typename Value>
    Json of_meaning()
    {
        using Known = Meaning<Value>;
        Json shown = of<decltype(Known::as(Value{}))>();
        shown["description"] = Known::kSays;
        return defined(Known::kName, std::move(shown));
    }

    template <typename Row>
    Json reference()
    {
        const char* const name = Fields<Row>::kName;
        if (is_defined(name))
            return refer(name);
        defined(name, nullptr); // its place in the order
        ObjectSchema object;
        add_members<Row>(Fields<Row>::kAll, object);
        if constexpr (requires { Fields<Row>::kSays; })
            return defined(name, object.json(Fields<Row>::kSays));
        else
            return defined(name, object.json());
    }

    static ObjectSchema versioned();
    Json whole(std::string_view name, std::string_view command, std::string_view more,
               const ObjectSchema& object) const;
    // `present`: it is left out at times.
    void add_member(ObjectSchema& object, const Said& said, Json property, bool present) const;
    std::string words_of(std::string_view says, unsigned added) const;
    bool is_later(unsigned added) const;

    bool is_defined(const char* name) const { return definitions_.contains(name); }
    Json defined(const char* name, Json schema); // and referred to
    static Json refer(const char* name);
    static void add_word(Json& words, const char* word); // unless it is there

    unsigned with_report_;
    unsigned minor_ = 0;
    Json definitions_ = Json::object();
};

} // namespace vramscope::report
