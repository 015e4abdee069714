#pragma once

#include <memory>
#include <string>

#include "cli/command.h"
#include "io/stream.h"

namespace stele::cli {

// Where a command writes a file. The file appears under its name only when it is complete and
// durable; until then it is called NAME.part, and goes away if the command gives up. "-" is the
// standard output.
class OutputFile final : public io::Sink {
 public:
  // Errors: kInvalid when the file exists and `replace` was not asked for, or when something
  // stands there that is no file, such as a device or a directory.
  static Result<std::unique_ptr<OutputFile>> Create(Context& context, const std::string& path,
                                                    bool replace);
  ~OutputFile() override;

  Status Write(std::string_view bytes) override;
  // After the last Write(): the file is durable and takes no descriptor any more, still as
  // NAME.part. Commit() does that, too.
  Status Close();
  // Call once, after the last Write().
  Status Commit();

 private:
  OutputFile(Context& context, std::string path) : context_(context), path_(std::move(path)) {}
  Status Flush();

  Context& context_;
  std::string path_;
  std::unique_ptr<io::WritableFile> file_;  // null: standard output
  std::string pending_;
  bool closed_ = false;
  bool committed_ = false;
};

}  // namespace stele::cli
