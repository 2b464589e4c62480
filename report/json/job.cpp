// report/json/job.cpp — a job as a document: its description says it all.
#include "report/model/job.hpp"

#include "report/json/documents.hpp"
#include "report/json/schema.hpp"

namespace vramscope::report {

Json job_json(const Job& job, Audience audience)
{
    return document_of(job, audience);
}

Json job_schema()
{
    return Schema(6).document<Job>("job");
}

} // namespace vramscope::report
