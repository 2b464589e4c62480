// tests/fuzz/fuzz_target.hpp — what a fuzz target gives to the driver.
//
// These are its name, the entry point and well-formed inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

std::vector<std::vector<std::uint8_t>> fuzz_corpus();

struct FuzzTarget {
    const char* name;
    std::size_t guarded_bytes; // at the start, which most mutations leave alone
    // By what the input means; null: any bytes of it.
    void (*change)(std::vector<std::uint8_t>& input, std::mt19937_64& random) = nullptr;
};
extern const FuzzTarget fuzz_target;
