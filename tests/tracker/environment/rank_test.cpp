// tests/tracker/environment/rank_test.cpp — the rank that launchers tell, and that of the log.
#include "tracker/environment/rank.hpp"

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "tests/tracker/fixture/recording.hpp"

using namespace vramscope;

namespace {

using Variables = std::map<std::string, std::string>;

// "launcher rank local_rank world_size local_world_size", "-" for what is not told.
std::string found_in(const Variables& variables)
{
    static const Variables* environment;
    environment = &variables;
    const log::Rank rank = log::find_rank([](const char* name) -> const char* {
        const auto found = environment->find(name);
        return found == environment->end() ? nullptr : found->second.c_str();
    });
    std::string text;
    for (const char* part :
         {rank.launcher, rank.rank, rank.local_rank, rank.world_size, rank.local_world_size})
        text += (text.empty() ? "" : " ") + std::string(part ? part : "-");
    return text;
}

} // namespace

TEST(Rank, IsToldByEachLauncherInItsOwnVariables)
{
    EXPECT_EQ(
        found_in(
            {{"RANK", "3"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "8"}, {"LOCAL_WORLD_SIZE", "4"}}),
        "torchrun 3 1 8 4");
    EXPECT_EQ(found_in({{"OMPI_COMM_WORLD_RANK", "3"},
                        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                        {"OMPI_COMM_WORLD_SIZE", "8"},
                        {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}}),
              "openmpi 3 1 8 4");
    EXPECT_EQ(found_in({{"PMI_RANK", "3"},
                        {"MPI_LOCALRANKID", "1"},
                        {"PMI_SIZE", "8"},
                        {"MPI_LOCALNRANKS", "4"}}),
              "pmi 3 1 8 4");
    EXPECT_EQ(found_in({{"PMIX_RANK", "3"}}), "pmix 3 - - -");
    EXPECT_EQ(found_in({{"SLURM_PROCID", "3"}, {"SLURM_LOCALID", "1"}, {"SLURM_NTASKS", "8"}}),
              "slurm 3 1 8 -");
    EXPECT_EQ(found_in({{"MV2_COMM_WORLD_RANK", "3"},
                        {"MV2_COMM_WORLD_LOCAL_RANK", "1"},
                        {"MV2_COMM_WORLD_SIZE", "8"},
                        {"MV2_COMM_WORLD_LOCAL_SIZE", "4"}}),
              "mvapich2 3 1 8 4");
}

TEST(Rank, IsThatOfTheLauncherNearestToTheProgram)
{
    EXPECT_EQ(found_in({{"SLURM_PROCID", "0"}, {"RANK", "3"}, {"SLURM_NTASKS", "2"}}),
              "torchrun 3 - - -");
    EXPECT_EQ(found_in({{"SLURM_PROCID", "0"}, {"PMI_RANK", "5"}}), "pmi 5 - - -");
}

TEST(Rank, IsNoneWhereNobodySpeaks)
{
    EXPECT_EQ(found_in({}), "- - - - -");
    EXPECT_EQ(found_in({{"LOCAL_RANK", "1"}, {"WORLD_SIZE", "8"}}), "- - - - -");
}

TEST(Rank, IsASmallNumber)
{
    for (const char* wrong : {"", "-1", "+1", " 1", "1 ", "0x1", "first", "12345678"})
        EXPECT_EQ(found_in({{"RANK", wrong}, {"SLURM_PROCID", "2"}}), "slurm 2 - - -") << wrong;
    EXPECT_EQ(found_in({{"RANK", "1234567"}, {"LOCAL_RANK", "x"}, {"WORLD_SIZE", "all"}}),
              "torchrun 1234567 - - -");
}

TEST(Job, IsNamedByTheBatchSystemFirst)
{
    static Variables environment;
    const auto job = [](const Variables& variables) {
        environment = variables;
        const char* const found = log::find_job([](const char* name) -> const char* {
            const auto at = environment.find(name);
            return at == environment.end() ? nullptr : at->second.c_str();
        });
        return std::string(found ? found : "-");
    };
    EXPECT_EQ(job({{"SLURM_JOB_ID", "77"}, {"TORCHELASTIC_RUN_ID", "run"}}), "77");
    EXPECT_EQ(job({{"TORCHELASTIC_RUN_ID", "run"}, {"PMIX_NAMESPACE", "space"}}), "run");
    EXPECT_EQ(job({{"TORCHELASTIC_RUN_ID", "none"}, {"SLURM_JOB_ID", ""}}), "-");
    EXPECT_EQ(job({}), "-");
}

TEST(Rank, IsInTheLog)
{
    const auto infos = [](const Variables& variables) {
        test::Recording recording;
        for (const char* mine :
             {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
              "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "MV2_COMM_WORLD_RANK"})
            recording.setting(mine, ""); // the launcher that runs this test may have set it
        for (const auto& [name, value] : variables)
            recording.setting(name, value);
        const test::RecordedLog log = recording.run([] { test::hooked_alloc(256, 256); });
        return log.info("launcher") + " " + log.info("rank") + " " + log.info("local_rank") + " " +
               log.info("world_size") + " " + log.info("local_world_size");
    };
    EXPECT_EQ(
        infos({{"RANK", "3"}, {"LOCAL_RANK", "1"}, {"WORLD_SIZE", "8"}, {"LOCAL_WORLD_SIZE", "4"}}),
        "torchrun 3 1 8 4");
    EXPECT_EQ(infos({{"PMIX_RANK", "3"}}), "pmix 3   ");
    EXPECT_EQ(infos({}), "    ");
}
