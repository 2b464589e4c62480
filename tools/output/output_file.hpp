// tools/output/output_file.hpp — what a command writes, and what it may not write over.
//
// An Output is checked when the command begins, before anything is read, written or started: it can
// be written, it is none of the command's inputs or other outputs, and what it would replace is an
// output of ours, unless --force was given (asked again when it is written: the traced program may
// have made a file of that name). Files are compared by what they are: a link to an input is that
// input. OutputFile writes it: a regular file beside its place, which it takes when all is written;
// what is not a regular file (/dev/null, a pipe) where it is; /dev/stdout and /dev/fd/N through
// that descriptor. Every error is an Error (125) that names the file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace vramscope {

class Output {
public:
    // What is not replaced without --force: files that neither --json nor `export` wrote; or any
    // but an empty one, where what is written is edited or kept.
    enum class Keep { foreign_files, every_file };

    // "-" is stdout; "" asks for no output.
    Output(const std::string& name, const std::vector<std::filesystem::path>& taken, bool force,
           Keep keep = Keep::foreign_files);

    // The same for what another process writes: only that it is none of the others.
    static void keep_apart(const std::string& name,
                           const std::vector<std::filesystem::path>& taken);

    // Error if it is that file, which this command needs otherwise.
    void keep_off(const std::filesystem::path& taken) const;

    bool wanted() const { return !name_.empty(); }
    bool is_stdout() const;
    bool is_replaced() const; // what is written takes its place: it is a regular file, or none yet
    const std::string& name() const { return name_; } // as it was given

private:
    friend class OutputFile;
    explicit Output(const std::string& name);
    void keep_from_traps() const;
    void keep_what_is_there() const;
    void check_writable() const;
    [[noreturn]] void fail(int problem) const;

    std::string name_;           // as it was given, "-" too; errors show it
    std::optional<Keep> keep_;   // empty after --force
    int descriptor_ = -1;        // our descriptor that the name leads to
    std::filesystem::path path_; // otherwise the path, with all links followed
};

// Error if the name is a link: one may have been put there by somebody else, to have a file of ours
// overwritten or a log made where others read it.
void refuse_link(const std::string& name);

class OutputFile {
public:
    explicit OutputFile(const Output& output, mode_t mode = 0644);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile(); // without finish(), nothing was written

    void write(std::string_view text);
    void finish();

    // For writers that write in another order; fail() reports what errno says.
    int descriptor() const { return descriptor_; }
    [[noreturn]] void fail() const;

private:
    void open_beside(mode_t mode);

    const Output& output_;
    std::string temporary_; // its name meanwhile, or at the end; empty: written in place
    bool nameless_ = false;
    int descriptor_ = -1;
};

} // namespace vramscope
