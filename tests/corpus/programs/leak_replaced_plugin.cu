// tests/corpus/programs/leak_replaced_plugin.cu — a plug-in is closed, its file is replaced by a
// newer build, and that is opened: two libraries with one path, and each of them leaks.
// truth: verdict leaks
// truth: leak module=replaced_plugin.so memory=device blocks=2 bytes=2*50000 rows=2
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/corpus/corpus.hpp"

// A new file of that name, as a linker makes one: the old one, which may be open, stays as it is.
void write_build(std::string library, char build, const std::string& path)
{
    const std::string note("\x14\0\0\0\3\0\0\0GNU\0", 12); // of a build-id of 20 bytes
    const std::size_t at = library.find(note);
    if (at == std::string::npos)
        std::_Exit(98);
    library[at + note.size()] = build;
    std::remove(path.c_str());
    std::ofstream(path, std::ios::binary) << library;
}

void use(const std::string& path)
{
    void* const plugin = dlopen(path.c_str(), RTLD_NOW);
    if (plugin == nullptr)
        std::_Exit(98);
    reinterpret_cast<void (*)()>(dlsym(plugin, "plugin_run"))();
    dlclose(plugin);
}

int main(int, char** argv)
{
    const std::string self = argv[0];
    std::ifstream file(self.substr(0, self.rfind('/')) + "/plugin_leaks.so", std::ios::binary);
    const std::string library{std::istreambuf_iterator<char>(file), {}};
    for (const char build : {'1', '2'}) {
        write_build(library, build, "./replaced_plugin.so");
        use("./replaced_plugin.so");
    }
    std::remove("./replaced_plugin.so");
}
