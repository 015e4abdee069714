#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/memory_file_system.h"

namespace stele::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;
};

Outcome Try(const std::vector<std::string>& words) {
  io::MemoryFileSystem fs;
  io::ManualClock clock(Timestamp{0});
  io::SeededRandom random(1);
  io::StringSink out, err;
  Context context{fs, clock, random, out, err};
  const ExitCode code = RunCommandLine(SteleCommand(), words, context);
  return {code, out.content(), err.content()};
}

// Every command in the tree, with the path to it.
void Visit(std::vector<const Command*>& path,
           const std::function<void(const std::vector<const Command*>&)>& visit) {
  visit(path);
  for (const Command& child : path.back()->commands) {
    path.push_back(&child);
    Visit(path, visit);
    path.pop_back();
  }
}

TEST(CommandLine, EveryCommandHasHelpWithExamplesAndAManPage) {
  const Command root = SteleCommand();
  std::vector<const Command*> start = {&root};
  Visit(start, [](const std::vector<const Command*>& path) {
    std::vector<std::string> words;
    for (std::size_t i = 1; i < path.size(); ++i) words.emplace_back(path[i]->name);
    words.push_back("--help");
    const Outcome outcome = Try(words);
    EXPECT_EQ(outcome.code, ExitCode::kDone);
    EXPECT_THAT(outcome.out, HasSubstr("Usage: " + FullName(path, ' ')));
    if (path.back()->name != "version") {
      EXPECT_THAT(outcome.out, HasSubstr("Examples:")) << FullName(path, ' ');
    }
    EXPECT_THAT(ManPage(path, "1"), HasSubstr(".SH SYNOPSIS"));
    // Either it runs or it has commands.
    EXPECT_NE(path.back()->run == nullptr, path.back()->commands.empty());
  });
}

TEST(CommandLine, WrongUsageIsSaidAndGivesTwo) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"nonsense"},
                                             {"warc"},
                                             {"warc", "nonsense"},
                                             {"warc", "ls"},
                                             {"warc", "ls", "--nonsense", "f"},
                                             {"warc", "ls", "--threads", "0", "f"},
                                             {"warc", "index", "--format", "x", "f"},
                                             {"help", "nonsense"}}) {
    const Outcome outcome = Try(words);
    EXPECT_EQ(outcome.code, ExitCode::kUsage) << words.back();
    EXPECT_TRUE(outcome.out.empty());
    EXPECT_THAT(outcome.err, testing::StartsWith("stele: "));
  }
}

TEST(CommandLine, AnOptionTakesOneValueAndLeavesTheFilesAlone) {
  const Outcome outcome = Try({"warc", "index", "--format", "cdx9", "missing.warc.gz"});
  EXPECT_EQ(outcome.code, ExitCode::kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("missing.warc.gz"));
}

// Names of commands mean nothing behind one: neither to help, which once ran them, nor as files.
TEST(CommandLine, OnlyTheFirstWordsAreCommands) {
  EXPECT_THAT(Try({"help", "crawl"}).out, HasSubstr("Usage: stele crawl"));
  EXPECT_THAT(Try({"help", "warc"}).out, HasSubstr("Usage: stele warc"));
  EXPECT_THAT(Try({"help", "warc", "ls"}).out, HasSubstr("Usage: stele warc ls"));
  for (const char* name : {"crawl", "warc", "ls", "help"}) {
    const Outcome outcome = Try({"warc", "ls", name});
    EXPECT_EQ(outcome.code, ExitCode::kFailed);
    EXPECT_THAT(outcome.err, HasSubstr(std::string("cannot open ") + name));
  }
  EXPECT_THAT(Try({"nonsense"}).err, HasSubstr("there is no command stele nonsense"));
  EXPECT_THAT(Try({"warc", "nonsense"}).err, HasSubstr("there is no command stele warc nonsense"));
}

// Neither the first nor the last is meant more than the other.
TEST(CommandLine, I7_OneValueIsRefusedTwiceUnlessTheTableSaysItRepeats) {
  const Outcome twice = Try({"ls", "--at", "2004", "--at", "2005"});
  EXPECT_EQ(twice.code, ExitCode::kUsage);
  EXPECT_THAT(twice.err, HasSubstr("--at is given twice\nTry: stele ls --help"));
  EXPECT_THAT(Try({"ls", "--batch", "200405", "--batch", "200505"}).err,
              Not(HasSubstr("given twice")));
  EXPECT_THAT(Try({"ls", "--help"}).out, HasSubstr("Captured in this month: 200405; repeatable"));
  EXPECT_THAT(Try({"ls", "--json", "--json"}).err, Not(HasSubstr("given twice")));
}

TEST(CommandLine, WhatIsMisspelledIsGuessed) {
  EXPECT_THAT(Try({"exprot"}).err, HasSubstr("Did you mean export?"));
  EXPECT_THAT(Try({"help", "warc", "idnex"}).err, HasSubstr("Did you mean index?"));
  EXPECT_THAT(Try({"warc", "ls", "--jsno", "f"}).err, HasSubstr("Did you mean --json?"));
  EXPECT_THAT(Try({"nonsense"}).err, Not(HasSubstr("Did you mean")));
  EXPECT_THAT(Try({"warc", "ls", "--nonsense", "f"}).err, Not(HasSubstr("Did you mean")));
}

// Newcomers see what they need every day; the rest is named, and explained when asked for.
TEST(CommandLine, AdvancedCommandsAreExplainedByTheirOwnHelp) {
  const std::string everyday = Try({"--help"}).out;
  EXPECT_THAT(everyday, HasSubstr("\n  crawl "));
  EXPECT_THAT(everyday, Not(HasSubstr("\n  reindex ")));
  EXPECT_THAT(everyday, HasSubstr("stele help advanced"));
  EXPECT_THAT(everyday, HasSubstr("reindex, "));
  const std::string advanced = Try({"help", "advanced"}).out;
  EXPECT_THAT(advanced, HasSubstr("\n  reindex  Make the catalog"));
  EXPECT_THAT(advanced, Not(HasSubstr("\n  crawl ")));
}

TEST(CommandLine, AMissingFileIsSaidAndGivesThree) {
  const Outcome outcome = Try({"warc", "check", "--quiet", "missing.warc.gz"});
  EXPECT_EQ(outcome.code, ExitCode::kFailed);
  EXPECT_THAT(outcome.err, HasSubstr("missing.warc.gz"));
}

TEST(CommandLine, ComplaintsShowControlCharactersAsText) {
  EXPECT_THAT(Try({"warc", "ls", "\x1b[31mred"}).err, HasSubstr("\\x1b[31mred"));
}

TEST(CommandLine, CompletionsKnowEveryCommand) {
  const std::string script = BashCompletion(SteleCommand());
  EXPECT_THAT(script, HasSubstr("'stele warc index') words='--help --format --sort"));
}

TEST(CommandLine, NoWordsAtAllShowTheHelp) {
  EXPECT_THAT(Try({}).out, HasSubstr("Commands:"));
  EXPECT_EQ(Try({"version"}).out.substr(0, 6), "stele ");
  EXPECT_EQ(Try({"--version"}).out, Try({"version"}).out);
}

}  // namespace
}  // namespace stele::cli
