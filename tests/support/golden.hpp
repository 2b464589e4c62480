// tests/support/golden.hpp — texts that are compared with tests/golden to the byte.
//
// After an intended change, run the test with VRAMSCOPE_UPDATE_GOLDEN=1 and read the difference.
#pragma once

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace vramscope::test {

inline void expect_golden(const std::string& name, const std::string& text)
{
    const std::string path = std::string(VRAMSCOPE_SOURCE_DIR) + "/tests/golden/" + name;
    if (std::getenv("VRAMSCOPE_UPDATE_GOLDEN")) {
        std::ofstream(path) << text;
        return;
    }
    std::ifstream in(path);
    std::ostringstream expected;
    expected << in.rdbuf();
    EXPECT_TRUE(in.good()) << "cannot read " << path;
    EXPECT_EQ(text, expected.str()) << "VRAMSCOPE_UPDATE_GOLDEN=1 writes the new text";
}

} // namespace vramscope::test
