#include "cli/record_part.h"

#include <fmt/format.h>

#include "codec/buffer.h"
#include "codec/registry.h"
#include "formats/http/content_decoder.h"
#include "formats/record/payload.h"
#include "util/ascii.h"

namespace stele::cli {
namespace {

using record::Record;

constexpr std::size_t kDecodedPieceBytes = 64 * 1024;

// What takes the block apart. The first error stays.
class Printer {
 public:
  virtual ~Printer() = default;
  // False: nothing more is wanted.
  virtual bool Feed(std::string_view piece) = 0;
  virtual void Finish() {}
  virtual http::Defects defects() const { return {}; }
  const Status& status() const { return status_; }

 protected:
  explicit Printer(io::Sink& out) : out_(out) {}
  void Write(std::string_view bytes) {
    if (status_ && !bytes.empty()) status_ = out_.Write(bytes);
  }

 private:
  io::Sink& out_;
  Status status_;
};

class BlockPrinter final : public Printer {
 public:
  explicit BlockPrinter(io::Sink& out) : Printer(out) {}
  bool Feed(std::string_view piece) override {
    Write(piece);
    return true;
  }
};

class HttpHeadPrinter final : public Printer {
 public:
  HttpHeadPrinter(io::Sink& out, const Record& record) : Printer(out) { payload_.Begin(record); }

  bool Feed(std::string_view piece) override {
    seen_ += piece;
    payload_.Feed(piece, nullptr);
    if (!payload_.head_is_known()) return true;
    End();
    return false;
  }
  void Finish() override {
    payload_.Finish(nullptr);
    End();
  }

 private:
  void End() { Write(std::string_view(seen_).substr(0, payload_.head_length())); }

  record::PayloadStream payload_;
  std::string seen_;
};

class PayloadPrinter final : public Printer, private record::PayloadSink {
 public:
  PayloadPrinter(io::Sink& out, const Record& record, bool decode,
                 const std::vector<std::string>* codings = nullptr)
      : Printer(out), decode_(decode), codings_(codings) {
    payload_.Begin(record);
  }

  bool Feed(std::string_view piece) override {
    payload_.Feed(piece, this);
    return !ended_;
  }
  void Finish() override {
    payload_.Finish(this);
    if (decoder_ && !ended_) Decode("", true);
  }
  http::Defects defects() const override {
    return decoder_ ? decoder_->defects() : http::Defects();
  }

 private:
  void OnPayload(std::string_view piece) override {
    if (!decode_) return Write(piece);
    if (!begun_) BeginDecoding();
    if (!decoder_) return Write(piece);
    if (!ended_) Decode(piece, false);
  }

  void BeginDecoding() {
    begun_ = true;
    const http::Headers* headers = nullptr;
    if (payload_.response() != nullptr) headers = &payload_.response()->headers;
    if (payload_.request() != nullptr) headers = &payload_.request()->headers;
    if (headers == nullptr && codings_ == nullptr) return;
    const std::vector<std::string_view> codings =
        codings_ != nullptr ? std::vector<std::string_view>(codings_->begin(), codings_->end())
                            : http::ContentCodings(*headers);
    decoder_.emplace(codec::StandardRegistry(), codings);
    if (decoder_->passes_through()) decoder_.reset();
    buffer_.Reserve(kDecodedPieceBytes);
  }

  void Decode(std::string_view in, bool last) {
    for (bool more = true; more && status();) {
      const http::ContentDecoder::Step step =
          decoder_->Decode(in, {buffer_.data(), buffer_.capacity()}, last);
      Write({buffer_.data(), step.produced});
      in.remove_prefix(step.consumed);
      ended_ = step.done;
      more = !ended_ && (last || !in.empty() || step.produced == buffer_.capacity());
    }
  }

  const bool decode_;
  const std::vector<std::string>* const codings_;
  bool begun_ = false;
  bool ended_ = false;
  record::PayloadStream payload_;
  std::optional<http::ContentDecoder> decoder_;
  codec::Buffer buffer_;
};

std::unique_ptr<Printer> PrinterFor(RecordPart part, const Record& record, io::Sink& out,
                                    const std::vector<std::string>* codings) {
  switch (part) {
    case RecordPart::kRecord:
    case RecordPart::kBlock:
      return std::make_unique<BlockPrinter>(out);
    case RecordPart::kHttp:
      return std::make_unique<HttpHeadPrinter>(out, record);
    case RecordPart::kPayload:
      return std::make_unique<PayloadPrinter>(out, record, false);
    case RecordPart::kDecoded:
      return std::make_unique<PayloadPrinter>(out, record, true, codings);
  }
  return nullptr;
}

// The head of a record whose block comes decompressed.
std::string HeadOf(const Record& record) {
  if (record.block_coding == record::BlockCoding::kNone || !record.decoded_length) {
    return std::string(record.head);
  }
  std::string head;
  for (std::string_view rest = record.head; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n') + 1);
    rest.remove_prefix(line.empty() ? rest.size() : line.size());
    if (StartsWithIgnoreCase(line, "unzip-length")) continue;
    if (StartsWithIgnoreCase(line, "length")) {
      head += fmt::format("length: {}\n", *record.decoded_length);
    } else {
      head += line;
    }
  }
  return head;
}

// What of the HTTP message matters to those who read the decoded payload.
std::optional<std::string> DecodingTrouble(const http::Defects& defects) {
  for (const http::Defect one :
       {http::Defect::kContentTooLarge, http::Defect::kCorruptContent, http::Defect::kShortContent,
        http::Defect::kTooManyCodings, http::Defect::kUnknownCoding, http::Defect::kWrongCoding}) {
    if (!defects.Has(one)) continue;
    return fmt::format("the payload could not be decoded as its Content-Encoding says: {}",
                       http::NameOf(one));
  }
  return std::nullopt;
}

}  // namespace

Result<std::optional<std::string>> PrintRecord(
    const Record& record, RecordPart part, const std::function<Result<std::string_view>()>& read,
    io::Sink& out, const std::vector<std::string>* codings) {
  if (part == RecordPart::kRecord) {
    if (const Status written = out.Write(HeadOf(record)); !written) return written.error();
  }
  const std::unique_ptr<Printer> printer = PrinterFor(part, record, out, codings);
  std::optional<std::string> trouble;
  bool wanted = true;
  while (wanted && printer->status()) {
    Result<std::string_view> piece = read();
    if (!piece && piece.error().code != ErrorCode::kCorrupt) return piece.error();
    if (!piece) trouble = piece.error().text;
    if (!piece || piece->empty()) break;
    wanted = printer->Feed(*piece);
  }
  if (wanted) printer->Finish();
  if (!printer->status()) return printer->status().error();
  if (part == RecordPart::kRecord) {
    const bool warc = record.format == record::Format::kWarc;
    if (const Status written = out.Write(warc ? "\r\n\r\n" : "\n"); !written) {
      return written.error();
    }
  }
  if (!trouble) trouble = DecodingTrouble(printer->defects());
  return trouble;
}

}  // namespace stele::cli
