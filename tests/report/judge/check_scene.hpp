// tests/report/judge/check_scene.hpp — programs that keep a budget or break it.
#pragma once

#include <initializer_list>
#include <string>

#include "report/model/check.hpp"
#include "tests/support/log_builder.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {

inline test::LogBuilder program()
{
    test::LogBuilder log = test::program_with_stacks();
    log.info("program", "train").place({.context = 1, .device = 0});
    return log;
}

// Holds 8 MiB at its peak, all freed.
inline test::LogBuilder clean()
{
    return program().alloc(0x1000, 8 << 20, 1).free(0x1000);
}

inline test::LogBuilder leaking()
{
    return clean().alloc(0x2000, 1 << 20, 2).alloc(0x3000, 2 << 20, 3);
}

inline test::LogBuilder killed(test::LogBuilder log)
{
    log.header().end = format::End::unknown;
    return log;
}

inline test::LogBuilder rank(test::LogBuilder log, std::uint32_t number, const std::string& of)
{
    log.header().pid = 100 + number;
    log.info("rank", std::to_string(number)).info("world_size", of);
    return log;
}

inline Budget fail_on(std::initializer_list<Finding> findings)
{
    Budget budget;
    budget.fail_on.emplace();
    for (const Finding finding : findings)
        (*budget.fail_on)[static_cast<std::size_t>(finding)] = true;
    return budget;
}

} // namespace vramscope::report
