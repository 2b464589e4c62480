// report/job/sqlite.cpp — a few functions of libsqlite3.so.0, in one transaction.
#include "report/job/sqlite.hpp"

#include <array>
#include <dlfcn.h>

#include <fmt/format.h>

#include "report/error.hpp"

namespace vramscope::report {
namespace {

// As sqlite3.h declares them; its objects are pointers to what is its own.
struct SqliteLibrary {
    int (*open_v2)(const char* file, void** database, int flags, const char* vfs) = nullptr;
    int (*close)(void* database) = nullptr;
    int (*exec)(void* database, const char* sql, void* call, void* of_call, char** error) = nullptr;
    int (*prepare_v2)(void* database, const char* sql, int bytes, void** statement,
                      const char** rest) = nullptr;
    int (*bind_int64)(void* statement, int at, std::int64_t value) = nullptr;
    int (*bind_text)(void* statement, int at, const char* text, int bytes,
                     void (*destroy)(void*)) = nullptr;
    int (*bind_null)(void* statement, int at) = nullptr;
    int (*step)(void* statement) = nullptr;
    int (*reset)(void* statement) = nullptr;
    int (*finalize)(void* statement) = nullptr;
    const char* (*errmsg)(void* database) = nullptr;

    SqliteLibrary()
    {
        void* const library = ::dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
        bool all = library != nullptr;
        const auto find = [&](auto& function, const char* name) {
            if (all)
                function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
                    ::dlsym(library, name));
            all = all && function != nullptr;
        };
        find(open_v2, "sqlite3_open_v2");
        find(close, "sqlite3_close");
        find(exec, "sqlite3_exec");
        find(prepare_v2, "sqlite3_prepare_v2");
        find(bind_int64, "sqlite3_bind_int64");
        find(bind_text, "sqlite3_bind_text");
        find(bind_null, "sqlite3_bind_null");
        find(step, "sqlite3_step");
        find(reset, "sqlite3_reset");
        find(finalize, "sqlite3_finalize");
        find(errmsg, "sqlite3_errmsg");
        if (!all)
            throw Error(Exit::usage, "--to sqlite: libsqlite3.so.0 is not installed (Debian: "
                                     "libsqlite3-0); --to csv-tables writes the same without it");
    }
};

constexpr int kSqliteOk = 0;
constexpr int kSqliteDone = 101;
constexpr int kSqliteReadWrite = 2;

class Database final : public SqliteTables {
public:
    Database(const std::string& file, bool events) : events_(events)
    {
        check(library_.open_v2(file.c_str(), &database_, kSqliteReadWrite, nullptr));
        // The file is nobody's before it is whole: a journal would help nobody.
        execute(fmt::format("pragma journal_mode=off; pragma synchronous=off; "
                            "pragma locking_mode=exclusive; pragma application_id={}; "
                            "pragma user_version={}; begin",
                            kTablesApplication, kTablesVersion));
        for (const TableDescription& table : table_descriptions())
            if (events_ || table.id != TableId::blocks)
                create(table);
    }
    ~Database() override
    {
        for (void* const statement : statements_)
            library_.finalize(statement);
        library_.close(database_);
    }

    void row(TableId table, const std::vector<TableValue>& values) override
    {
        void* const statement = statements_[static_cast<std::size_t>(table)];
        for (std::size_t at = 0; at < values.size(); ++at)
            check(bind(statement, static_cast<int>(at) + 1, values[at]));
        const int done = library_.step(statement);
        library_.reset(statement);
        if (done != kSqliteDone)
            check(done);
    }

    void finish() override { execute("create index sites_by_place on sites(fingerprint); commit"); }

private:
    void create(const TableDescription& table)
    {
        std::string columns;
        std::string marks;
        for (const TableColumn& column : table.columns) {
            columns += fmt::format("{}\"{}\" {}", columns.empty() ? "" : ", ", column.name,
                                   column.text ? "text" : "integer");
            marks += marks.empty() ? "?" : ",?";
        }
        execute(fmt::format("create table {}({})", table.name, columns));
        const std::string insert = fmt::format("insert into {} values({})", table.name, marks);
        check(library_.prepare_v2(database_, insert.c_str(), -1,
                                  &statements_[static_cast<std::size_t>(table.id)], nullptr));
    }

    // What it points to stays until the statement's step is done.
    int bind(void* statement, int at, const TableValue& value)
    {
        if (const auto* const number = std::get_if<std::uint64_t>(&value))
            return library_.bind_int64(statement, at, static_cast<std::int64_t>(*number));
        if (const auto* const text = std::get_if<std::string>(&value))
            return library_.bind_text(statement, at, text->data(), static_cast<int>(text->size()),
                                      nullptr);
        return library_.bind_null(statement, at);
    }

    void execute(const std::string& sql)
    {
        check(library_.exec(database_, sql.c_str(), nullptr, nullptr, nullptr));
    }

    void check(int result)
    {
        if (result != kSqliteOk)
            throw Error(Exit::usage,
                        fmt::format("the database cannot be made: {}", library_.errmsg(database_)));
    }

    const bool events_;
    SqliteLibrary library_;
    void* database_ = nullptr;
    std::array<void*, static_cast<std::size_t>(TableId::blocks) + 1> statements_{};
};

} // namespace

std::unique_ptr<SqliteTables> SqliteTables::open(const std::string& file, bool events)
{
    return std::make_unique<Database>(file, events);
}

} // namespace vramscope::report
