// tests/corpus/programs/leak_plugin.cu — a plug-in is closed, its memory stays.
// truth: verdict leaks
// truth: leak function=plugin_run memory=device blocks=2 bytes=2*50000 module=plugin_leaks.so
#include <dlfcn.h>
#include <string>

#include "tests/corpus/corpus.hpp"

int main(int, char** argv)
{
    const std::string self = argv[0];
    const std::string path = self.substr(0, self.rfind('/')) + "/plugin_leaks.so";
    for (int times = 0; times < 2; ++times) {
        void* const plugin = dlopen(path.c_str(), RTLD_NOW);
        if (plugin == nullptr)
            return 98;
        reinterpret_cast<void (*)()>(dlsym(plugin, "plugin_run"))();
        dlclose(plugin);
    }
}
