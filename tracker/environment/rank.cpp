// tracker/environment/rank.cpp — the launchers, nearest to the program first.
#include "tracker/environment/rank.hpp"

#include <cstddef>
#include <cstring>

namespace vramscope::log {
namespace {

struct Launcher {
    const char* name;
    const char* rank;
    const char* local_rank; // "": it does not tell
    const char* world_size;
    const char* local_world_size; // "" as above
};

// torchrun may run below mpirun or srun, and mpirun below srun: the outer ones' variables then
// count launchers, not ranks.
constexpr Launcher kLaunchers[] = {
    {"torchrun", "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"},
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"pmi", "PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", "MPI_LOCALNRANKS"},
    {"pmix", "PMIX_RANK", "", "", ""},
    {"slurm", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS", ""},
    {"mvapich2", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE",
     "MV2_COMM_WORLD_LOCAL_SIZE"},
};

bool is_small_number(const char* text) noexcept
{
    constexpr std::size_t kMostDigits = 7;
    std::size_t digits = 0;
    for (; text[digits] >= '0' && text[digits] <= '9' && digits < kMostDigits; ++digits) {
    }
    return digits > 0 && text[digits] == '\0';
}

// A job is what was submitted, whatever is launched in it.
constexpr const char* kJobs[] = {"SLURM_JOB_ID", "PBS_JOBID",           "LSB_JOBID",
                                 "JOB_ID",       "TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE"};

} // namespace

const char* find_job(const char* (*environment)(const char* name)) noexcept
{
    for (const char* variable : kJobs)
        if (const char* job = environment(variable);
            job && *job && std::strcmp(job, "none") != 0) // torchrun's own default
            return job;
    return nullptr;
}

Rank find_rank(const char* (*environment)(const char* name)) noexcept
{
    const auto number = [environment](const char* variable) -> const char* {
        const char* value = *variable ? environment(variable) : nullptr;
        return value && is_small_number(value) ? value : nullptr;
    };
    for (const Launcher& launcher : kLaunchers)
        if (const char* rank = number(launcher.rank))
            return {launcher.name, rank, number(launcher.local_rank), number(launcher.world_size),
                    number(launcher.local_world_size)};
    return {};
}

} // namespace vramscope::log
