// report/import/torch/torch_fields.hpp — what a snapshot's dicts have under the names that we know.
#pragma once

#include <cstdint>
#include <string>

#include "report/import/pickle/pickle.hpp"

namespace vramscope::report {

// Each is the number of its text, which is interned before any other.
enum TorchKey : std::uint64_t {
    kAction,
    kActive,
    kAddr,
    kAddress,
    kAnnotations,
    kBlocks,
    kDevice,
    kDeviceFree,
    kFilename,
    kFrames,
    kHistory,
    kIsExpandable,
    kLine,
    kName,
    kPending,
    kPoolId,
    kRealSize,
    kRequestedSize,
    kSegmentPoolId,
    kSegments,
    kSegmentType,
    kSettings,
    kSize,
    kSmall,
    kStage,
    kStart,
    kState,
    kStream,
    kTimeUs,
    kTotalSize,
    kTraces,
    kUserMetadata,
    kTorchKeys
};

class TorchFields : public PickleMachine {
protected:
    explicit TorchFields(PickleInput& input);

    const Value* find(const Value& dict, std::uint64_t key) const; // nullptr: it is not there
    // Error: it is there, and is not a number.
    std::uint64_t number_or(const Value& dict, TorchKey key, std::uint64_t otherwise) const;
    // The text's number; that of "" for what is absent. Error: it is there, and is not a text.
    std::uint64_t text_number(const Value& dict, TorchKey key);
    std::string words_of(const Value& value) const; // one setting, as Python prints it

private:
    std::string words_of_dict(const Value& dict) const;
};

} // namespace vramscope::report
