#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archive/archive_reader.h"
#include "archive/archive_writer.h"
#include "archive/capture_query.h"
#include "archive/removal.h"
#include "cli/command.h"

// The commands that work on an archive, one file for each, and what they share.
namespace stele::cli {

Command CrawlCommand();
Command ImportCommand();
Command LsCommand();
Command GetCommand();
Command InfoCommand();
Command ChangesCommand();
Command DiffCommand();
Command ReportCommand();
Command ExportCommand();
Command VerifyCommand();
Command RmCommand();
Command HoldCommand();
Command BatchCommand();
Command ReindexCommand();
Command ServeCommand();

// --archive, and where it is not given $STELE_ARCHIVE, else the current directory.
std::string ArchiveDirectory(const Arguments& arguments);
std::vector<Option> WithArchiveOption(std::vector<Option> options);

// The archive that is meant, open for reading. Null after a complaint; `code` says how to end.
std::unique_ptr<archive::ArchiveReader> OpenArchive(const Arguments& arguments, Context& context,
                                                    ExitCode& code);
// The same, open for writing by the command of this name.
std::unique_ptr<archive::ArchiveWriter> OpenArchiveToWrite(
    const std::string& directory, std::string_view command, Context& context, ExitCode& code,
    archive::ArchiveWriter::Rebuild rebuild = archive::ArchiveWriter::Rebuild::kNothing,
    std::optional<std::uint32_t> batch = std::nullopt);

// Says so when files could not be brought to their volume, or deleted there; that is done later.
void ComplainOfDelivery(archive::ArchiveWriter& writer, Context& context);

// Says which captures that stay lose their payload, because it is damaged.
void ComplainOfDamage(const archive::RemovalPlan& plan, Context& context);

// Deletes the bytes of all that was taken down, and says how that went.
ExitCode PurgeAll(archive::ArchiveWriter& writer, Context& context);

// Options that choose captures, and what they say, together with these URLs.
std::vector<Option> WithCaptureOptions(std::vector<Option> options);
// Of URLs it finds all captures, whatever the request was. Errors: kInvalid, for the person who
// typed it.
Result<archive::CaptureQuery> CaptureQueryOf(const Arguments& arguments,
                                             const std::vector<std::string>& urls);

// A batch: a month like 200405. Nothing for anything else.
std::optional<std::uint32_t> BatchIn(std::string_view text);
// Those of --batch. Errors: kInvalid.
Result<std::vector<std::uint32_t>> BatchesOption(const Arguments& arguments);

// Errors: kInvalid when captures of a run are asked for that never was, kNotFound when one is by an
// id that none has; those of the catalog.
Status CheckNamed(const archive::CaptureQuery& query, const archive::ArchiveView& view);

// What was asked for, in the words of the command line, for the ledger.
std::string NoteOf(const Arguments& arguments);

// Complains, and says with which code to end.
ExitCode Fail(Context& context, const Error& error);

}  // namespace stele::cli
