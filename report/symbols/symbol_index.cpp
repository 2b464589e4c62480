// report/symbols/symbol_index.cpp — see symbol_index.hpp.
#include "report/symbols/symbol_index.hpp"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <string_view>
#include <tuple>

namespace vramscope::report {

std::string demangle(std::string symbol)
{
    symbol.resize(std::min(symbol.find('@'), symbol.size()));
    if (!symbol.starts_with("_Z"))
        return symbol;
    symbol.resize(std::min(symbol.find('.'), symbol.size()));
    int status = 0;
    char* const text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    if (text != nullptr)
        symbol = text;
    std::free(text);
    return symbol;
}

SymbolIndex::SymbolIndex(const ElfFile& file)
{
    auto symbols = file.functions();
    const auto rank = [](const ElfSymbol& symbol) {
        const std::string_view name = symbol.name;
        const auto underscores = std::min(name.find_first_not_of('_'), name.size());
        return std::tuple(symbol.bytes, underscores, !symbol.global, name);
    };
    std::sort(symbols.begin(), symbols.end(),
              [&](const ElfSymbol& a, const ElfSymbol& b) { return rank(b) < rank(a); });
    for (const auto& symbol : symbols) {
        index_.add(symbol.address, symbol.address + symbol.bytes,
                   static_cast<std::uint32_t>(names_.size()));
        names_.push_back(symbol.name);
    }
    index_.build();
}

const char* SymbolIndex::find(std::uint64_t vaddr) const
{
    const auto found = index_.find(vaddr);
    return found ? names_[*found] : nullptr;
}

} // namespace vramscope::report
