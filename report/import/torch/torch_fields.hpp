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
    // What is no number, and not absent either, is an Error.
    std::uint64_t number_or(const Value& dict, TorchKey key, std::uint64_t otherwise) const;
    // Of the text; "" for what is absent. What is no text is an Error.
    std::uint64_t text_number(const Value& dict, TorchKey key);
    std::string words_of(const Value& value) const; // of one setting, as Python prints it

private:
    std::string words_of_dict(const Value& dict) const;
};

} // namespace vramscope::report
