#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "formats/record/block_stream.h"
#include "formats/record/record_reader.h"
#include "io/memory_file_system.h"

// Reads whole files for tests of grammars.
namespace stele::record {

using GrammarMaker = std::function<std::unique_ptr<Grammar>()>;

// What a reader made of a file.
struct Reading {
  std::vector<std::string> good;  // "uri block" of records without damage
  std::vector<std::string> types;
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> lengths;
  std::vector<Loss> losses;
  std::vector<std::string> rules;  // of the defects of all records, damaged or not
};

inline Reading ReadAll(io::Source& source, const GrammarMaker& grammar) {
  Reading reading;
  auto input = OpenRecordInput(source);
  EXPECT_TRUE(input.ok());
  RecordReader reader(*std::move(input), grammar());
  for (;;) {
    Result<const Record*> next = reader.Next();
    EXPECT_TRUE(next.ok());
    if (!next || *next == nullptr) break;
    const Record& record = **next;
    std::string text = std::string(record.target_uri) + ' ';
    BlockStream block(reader, record);
    bool broken = false;
    for (;;) {
      Result<std::string_view> piece = block.Read();
      broken = !piece;
      if (!piece || piece->empty()) break;
      text += *piece;
    }
    Result<Extent> extent = reader.Finish();
    for (const Defect& defect : reader.defects()) reading.rules.emplace_back(defect.rule);
    if (broken || record.damaged) continue;
    reading.good.push_back(text);
    reading.types.emplace_back(RecordTypeName(record.type));
    reading.offsets.push_back(extent->offset);
    reading.lengths.push_back(extent->length);
  }
  reading.losses = reader.losses();
  return reading;
}

inline Reading ReadAsFile(std::string_view bytes, const GrammarMaker& grammar) {
  io::MemoryFileSystem fs;
  EXPECT_TRUE(io::ReplaceFile(fs, "f", bytes));
  io::FileSource source(*fs.OpenForReading("f"));
  return ReadAll(source, grammar);
}

inline Reading ReadAsPipe(std::string_view bytes, const GrammarMaker& grammar) {
  io::MemorySource source(bytes);
  return ReadAll(source, grammar);
}

}  // namespace stele::record
