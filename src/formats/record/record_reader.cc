// A compressed file says itself where its members begin and whether they are whole. In a plain file
// only the heads say how long a block is, and a damaged head lies; so before a block is handed out,
// the place where it should end is looked at. If no record begins there, the file is searched from
// the head on: a good record before that place means that the length is wrong.
#include "formats/record/record_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace stele::record {
namespace {

constexpr std::size_t kPeekBytes = 512;
constexpr std::size_t kHeadPeekBytes = 16 * 1024;

}  // namespace

RecordReader::RecordReader(std::unique_ptr<RecordInput> input, std::unique_ptr<Grammar> grammar)
    : input_(std::move(input)), grammar_(std::move(grammar)) {}

Result<const Record*> RecordReader::Next() {
  if (state_ == State::kInBlock) {
    const Result<Extent> end = Finish();
    if (!end && end.error().code != ErrorCode::kCorrupt) return end.error();
  }
  if (state_ == State::kBroken) {
    state_ = State::kBetween;
    const Result<bool> found = Recover(record_.offset, std::move(broken_reason_));
    if (!found) return found.error();
  }
  while (state_ != State::kEnded) {
    Result<bool> found = GoToRecord();
    if (!found) return found.error();
    if (!*found) break;
    Result<bool> read = ReadHead();
    if (!read) return read.error();
    if (!*read) continue;
    state_ = State::kInBlock;
    return &record_;
  }
  state_ = State::kEnded;
  return static_cast<const Record*>(nullptr);
}

Result<bool> RecordReader::GoToRecord() {
  std::size_t tail = 0;  // bytes of the member before, which may be the begin of a record
  for (;;) {
    if (state_ == State::kEnded) return false;
    const std::string_view bytes = input_->available();
    const Match match = bytes.empty() ? Match::kNeedMore : grammar_->BeginsRecord(bytes);
    if (match == Match::kYes) return true;
    Result<bool> moved = true;
    if (match == Match::kNeedMore) {
      moved = input_->More();
      if (moved && !*moved) {
        tail = bytes.size();
        moved = input_->NextMember();
        if (moved && !*moved && tail == 0) return false;
      }
      if (moved && *moved) continue;
    } else if (const std::size_t gap = grammar_->SeparatorLength(bytes, nullptr); gap + tail > 0) {
      input_->Consume(tail > 0 ? tail : gap);
      tail = 0;
      continue;
    }
    if (!moved && moved.error().code != ErrorCode::kCorrupt) return moved.error();
    Result<bool> found =
        Recover(input_->offset(), moved ? "no record begins here" : moved.error().text);
    if (!found) return found.error();
  }
}

Result<bool> RecordReader::ReadHead() {
  const std::uint64_t offset = input_->offset();
  const bool at_member_start = input_->at_member_start();
  Result<std::size_t> length = WholeHeadLength();
  if (!length) {
    if (length.error().code != ErrorCode::kCorrupt) return length.error();
    const Result<bool> found = Recover(offset, length.error().text);
    if (!found) return found.error();
    return false;
  }
  head_.assign(input_->available().substr(0, *length));
  http::Headers fields = std::move(record_.fields);  // for its memory
  fields.Clear();
  record_ = Record();
  record_.fields = std::move(fields);
  record_.format = grammar_->format();
  record_.offset = offset;
  record_.at_member_start = at_member_start;
  record_.head = head_;
  defects_.clear();
  Status parsed = grammar_->ParseHead(head_, record_, defects_);
  if (parsed && record_.content_length > kBlockBytesMax) {
    parsed = Error{ErrorCode::kCorrupt,
                   fmt::format("the head says {} bytes of block", record_.content_length)};
  }
  if (!parsed) {
    const Result<bool> found = Recover(offset, parsed.error().text);
    if (!found) return found.error();
    return false;
  }
  input_->Consume(*length);
  block_left_ = record_.content_length;
  handed_out_ = 0;
  next_member_is_open_ = false;
  resume_at_.reset();
  if (!at_member_start) {
    defects_.push_back({"not-at-member-start",
                        "the record does not begin a compressed member and cannot be read alone"});
  }
  if (input_->compression() == Compression::kNone) {
    if (const Status limited = LimitPlainBlock(); !limited) return limited.error();
  }
  return ClassifyBlock();
}

Result<bool> RecordReader::ClassifyBlock() {
  const std::uint64_t want = std::min<std::uint64_t>(grammar_->classify_bytes(), block_left_);
  while (input_->available().size() < want) {
    Result<bool> more = input_->More();
    if (!more) {
      if (more.error().code != ErrorCode::kCorrupt) return more.error();
      const Result<bool> found = Recover(record_.offset, more.error().text);
      if (!found) return found.error();
      return false;
    }
    if (!*more) break;
  }
  grammar_->Classify(input_->available().substr(0, want), record_);
  return true;
}

Result<std::size_t> RecordReader::WholeHeadLength() {
  for (;;) {
    Result<std::size_t> length = grammar_->HeadLength(input_->available());
    if (!length || *length > 0) return length;
    if (input_->available().size() >= kHeadBytesMax) {
      return Error{ErrorCode::kCorrupt,
                   fmt::format("the head of the record has more than {} bytes", kHeadBytesMax)};
    }
    Result<bool> more = input_->More();
    if (more && !*more) more = input_->NextMember();
    if (!more) return more.error();
    if (!*more) return Error{ErrorCode::kCorrupt, "the file ends in the head of a record"};
  }
}

Result<RecordReader::Boundary> RecordReader::BoundaryAt(std::uint64_t distance) {
  // One byte before the place tells its end from the file's.
  const std::uint64_t back = distance > 0 ? 1 : 0;
  Result<std::optional<std::string_view>> peeked =
      input_->PeekAt(distance - back, kPeekBytes + back);
  if (!peeked) return peeked.error();
  if (!*peeked) return Boundary::kUnknown;
  if ((*peeked)->size() < back) return Boundary::kBeyondEnd;
  const std::string_view bytes = (*peeked)->substr(back);
  std::vector<Defect> defects;
  const std::string_view rest = bytes.substr(grammar_->SeparatorLength(bytes, &defects));
  if (rest.empty() || grammar_->BeginsRecord(rest) != Match::kNo) return Boundary::kRecord;
  return defects.empty() ? Boundary::kSeparator : Boundary::kNothing;
}

Status RecordReader::LimitPlainBlock() {
  Result<Boundary> boundary = BoundaryAt(block_left_);
  if (!boundary) return boundary.error();
  if (*boundary == Boundary::kRecord || *boundary == Boundary::kUnknown) return {};

  const std::uint64_t begin = input_->offset();
  const std::uint64_t end = begin + block_left_;
  Result<std::optional<std::uint64_t>> next = FindGoodRecord(begin);
  if (!next) return next.error();
  if (const Status back = input_->SkipTo(begin); !back) {
    // A pipe: the block is gone. What follows is not.
    if (*next) resume_at_ = **next;
    block_left_ = 0;
    record_.damaged = true;
    AddLoss(record_.offset, next->value_or(begin), "no record begins where this one should end");
    return {};
  }
  if (*boundary == Boundary::kSeparator && (!*next || **next >= end)) return {};

  Result<std::uint64_t> size = input_->FileSize();
  if (!size) return size.error();
  const std::uint64_t real_end = next->value_or(*size);
  const bool excused = *next && real_end < end && end - real_end <= record_.length_slack;
  record_.damaged = !excused;
  if (real_end < end) {
    block_left_ = real_end - begin;
    defects_.push_back(
        {"length-too-large",
         fmt::format("Content-Length is {}, but {} after {} bytes", record_.content_length,
                     *next ? "another record begins" : "the file ends", block_left_)});
  } else {
    defects_.push_back(
        {"length-too-small", fmt::format("Content-Length is {}, but the next record begins after "
                                         "{} bytes",
                                         record_.content_length, real_end - begin)});
  }
  resume_at_ = real_end;
  if (!excused) AddLoss(record_.offset, real_end, defects_.back().text);
  return {};
}

Result<bool> RecordReader::Recover(std::uint64_t from, std::string reason) {
  Result<std::optional<std::uint64_t>> next = FindGoodRecord(from + 1);
  if (!next) return next.error();
  Result<std::uint64_t> size = input_->FileSize();
  if (!size) return size.error();
  AddLoss(from, next->value_or(*size), std::move(reason));
  if (!*next) {
    state_ = State::kEnded;
    return false;
  }
  const Status moved = input_->SkipTo(**next);
  if (!moved) return moved.error();
  return true;
}

Result<std::optional<std::uint64_t>> RecordReader::FindGoodRecord(std::uint64_t from) {
  for (;;) {
    Result<std::optional<std::uint64_t>> found = input_->FindRecord(from, *grammar_);
    if (!found || !*found || input_->compression() != Compression::kNone) return found;
    if (const Status moved = input_->SkipTo(**found); !moved) return moved.error();
    Result<bool> good = Confirmed();
    if (!good) return good.error();
    if (*good) return found;
    from = **found + 1;
  }
}

Result<std::optional<std::string_view>> RecordReader::PeekHead(std::uint64_t distance) {
  // Most heads are small, and candidates that turn out to be none should cost little.
  Result<std::optional<std::string_view>> peeked = input_->PeekAt(distance, kHeadPeekBytes);
  if (!peeked || !*peeked || (*peeked)->size() < kHeadPeekBytes) return peeked;
  const Result<std::size_t> length = grammar_->HeadLength(**peeked);
  if (!length || *length > 0) return peeked;
  return input_->PeekAt(distance, kHeadBytesMax);
}

Result<bool> RecordReader::Confirmed() {
  std::uint64_t distance = 0;
  for (int i = 0; i < grammar_->confirmations(); ++i) {
    Result<std::optional<std::string_view>> peeked = PeekHead(distance);
    if (!peeked) return peeked.error();
    if (!*peeked) return true;  // too far away in a pipe
    const std::string_view bytes = **peeked;
    if (i > 0 && bytes.empty()) return true;  // the file ends well
    const Result<std::size_t> length = grammar_->HeadLength(bytes);
    if (!length || *length == 0) return false;
    Record record;
    std::vector<Defect> defects;
    if (!grammar_->ParseHead(bytes.substr(0, *length), record, defects)) return false;
    if (record.content_length > kBlockBytesMax) return false;
    if (grammar_->confirmations() == 1) return true;
    distance += *length + record.content_length;
    Result<Boundary> boundary = BoundaryAt(distance);
    if (!boundary) return boundary.error();
    if (*boundary == Boundary::kUnknown) return true;
    if (*boundary != Boundary::kRecord) {
      // The last one may be followed by damage, if it ends as a record does.
      return *boundary == Boundary::kSeparator && i + 1 == grammar_->confirmations();
    }
    peeked = input_->PeekAt(distance, kSeparatorBytesMax);
    if (!peeked) return peeked.error();
    distance += grammar_->SeparatorLength(peeked->value_or(""), nullptr);
  }
  return true;
}

Result<std::string_view> RecordReader::ReadBlock() {
  if (state_ != State::kInBlock) return std::string_view();
  input_->Consume(handed_out_);
  handed_out_ = 0;
  while (block_left_ > 0 && input_->available().empty()) {
    Result<bool> more = input_->More();
    if (more && !*more) more = BlockGoesOn();
    if (!more) return Broken(more.error());
  }
  const std::string_view piece = input_->available().substr(0, block_left_);
  handed_out_ = piece.size();
  block_left_ -= piece.size();
  return piece;
}

Result<bool> RecordReader::BlockGoesOn() {
  Result<bool> next = input_->NextMember();
  if (!next) return next.error();
  if (*next && grammar_->BeginsRecord(input_->available()) == Match::kNo) {
    defects_.push_back({"record-spans-members", "the record goes on in the next member"});
    return true;
  }
  next_member_is_open_ = *next;
  if (!record_.damaged) {
    defects_.push_back(
        {"length-too-large",
         fmt::format("Content-Length is {}, but the {} after {} bytes", record_.content_length,
                     input_->compression() == Compression::kNone ? "file ends" : "member ends",
                     record_.content_length - block_left_)});
    record_.damaged = !*next || block_left_ > record_.length_slack;
    if (record_.damaged) {
      AddLoss(record_.offset, *next ? input_->offset() : input_->end_offset(),
              defects_.back().text);
    }
  }
  block_left_ = 0;
  return false;
}

Result<Extent> RecordReader::Finish() {
  Extent extent;
  extent.offset = record_.offset;
  if (state_ != State::kInBlock) return extent;
  input_->Consume(handed_out_);
  handed_out_ = 0;
  while (block_left_ > 0) {
    Result<std::uint64_t> passed = input_->Skip(block_left_);
    if (!passed) return Broken(passed.error());
    block_left_ -= *passed;
    if (block_left_ == 0) break;
    if (Result<bool> goes_on = BlockGoesOn(); !goes_on) return Broken(goes_on.error());
  }
  if (resume_at_) {
    extent.length = *resume_at_ - record_.offset;
    if (Status moved = input_->SkipTo(*resume_at_); !moved) return moved.error();
  } else if (next_member_is_open_) {
    extent.length = input_->offset() - record_.offset;
  } else if (const Status passed = PassSeparator(extent); !passed) {
    return Broken(passed.error());
  }
  state_ = State::kBetween;
  return extent;
}

Status RecordReader::PassSeparator(Extent& extent) {
  while (input_->available().size() < kSeparatorBytesMax) {
    Result<bool> more = input_->More();
    if (!more) return more.error();
    if (!*more) break;
  }
  const std::size_t separator =
      grammar_->SeparatorLength(input_->available(), record_.damaged ? nullptr : &defects_);
  input_->Consume(separator);
  if (input_->compression() == Compression::kNone) {
    extent.length = input_->offset() - record_.offset;
    extent.separator = separator;
    return {};
  }
  const Status passed = PassGarbageInMember();
  extent.length = input_->end_offset() - record_.offset;
  return passed;
}

Status RecordReader::PassGarbageInMember() {
  std::uint64_t garbage = 0;
  for (;;) {
    const std::string_view bytes = input_->available();
    if (!bytes.empty()) {
      const Match match = grammar_->BeginsRecord(bytes);
      if (match == Match::kYes) break;
      std::size_t skip = match == Match::kNo ? grammar_->FindCandidate(bytes, 1) : 0;
      input_->Consume(skip);
      garbage += skip;
      if (skip > 0) continue;
    }
    Result<bool> more = input_->More();
    if (!more) return more.error();
    if (!*more) break;
  }
  if (garbage > 0) {
    defects_.push_back({"length-too-small",
                        fmt::format("Content-Length is {}, but {} more bytes follow in the member",
                                    record_.content_length, garbage)});
    record_.damaged = true;
  }
  return {};
}

Status RecordReader::SkipTo(std::uint64_t offset, std::optional<std::uint64_t> length) {
  state_ = State::kBetween;
  handed_out_ = 0;
  block_left_ = 0;
  if (const Status moved = input_->SkipTo(offset); !moved) return moved;
  if (length) input_->Expect(*length);
  return {};
}

Error RecordReader::Broken(const Error& error) {
  if (error.code == ErrorCode::kCorrupt) {
    state_ = State::kBroken;
    record_.damaged = true;
    broken_reason_ = error.text;
    return {ErrorCode::kCorrupt, error.text};
  }
  return error;
}

void RecordReader::AddLoss(std::uint64_t begin, std::uint64_t end, std::string reason) {
  if (!losses_.empty() && losses_.back().end >= begin && losses_.back().begin <= begin) {
    losses_.back().end = std::max(losses_.back().end, end);
    return;
  }
  losses_.push_back({begin, end, std::move(reason)});
}

}  // namespace stele::record
