#include "base/result.h"

namespace icewright {
namespace {

struct Word {
  std::string_view name;
  std::string_view next;
};

// In the order of Code.
constexpr Word kWords[] = {
    {"invalid-argument", "correct the option or the configuration named in the message"},
    {"not-found", "check the name; `icewright tables` lists what the catalog has"},
    {"already-exists", "choose another name, or drop what has this one"},
    {"corrupt",
     "nothing was changed; restore the named file or roll back to a snapshot without it"},
    {"unsupported", "this build cannot do it safely; nothing was changed"},
    {"conflict", "another writer was faster; run the command again"},
    {"commit-unknown",
     "look at the table's newest snapshot before you run anything else; nothing was deleted"},
    {"unavailable", "try again later"},
    {"io", "check the storage named in the message"},
    {"denied", "grant access to the object named in the message"},
    {"lock-held", "wait for the holder, or see `icewright lock show`"},
    {"lock-lost", "run the command again; the table is intact"},
    {"cancelled", "run the command again; the table is intact"},
    {"exhausted", "raise the limit named in the message, or give the run less to do"},
    {"internal", "please report this message; it is a bug of icewright"},
};
static_assert(std::size(kWords) == static_cast<std::size_t>(Code::kInternal) + 1);

const Word& WordOf(Code code) { return kWords[static_cast<std::size_t>(code)]; }

}  // namespace

std::string_view Name(Code code) { return WordOf(code).name; }
std::string_view NextStep(Code code) { return WordOf(code).next; }

Error::Error(Code code, std::string message)
    : rep_(std::make_shared<const Rep>(Rep{code, std::move(message)})) {}

Error Error::Within(std::string_view step) const {
  return {code(), std::string(step) + ": " + message()};
}

}  // namespace icewright
