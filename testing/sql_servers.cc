#include "testing/sql_servers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <system_error>

#include "testing/paths.h"

namespace icewright {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Die(const std::string& message) {
  std::cerr << "services: " << message << "\n";
  std::abort();
}

int OpenLock(const std::string& path, int operation) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0 || ::flock(fd, operation) != 0) Die("cannot lock " + path);
  return fd;
}

std::string FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  if (fd < 0 || ::bind(fd, reinterpret_cast<sockaddr*>(&address), length) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    Die("no free port");
  }
  ::close(fd);
  return std::to_string(ntohs(address.sin_port));
}

std::string ReadText(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Output of a command; it must succeed.
std::string OutputOf(const std::string& command) {
  FILE* const pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) Die("cannot run " + command);
  std::string output;
  char buffer[4096];
  std::size_t n = 0;
  while ((n = ::fread(buffer, 1, sizeof(buffer), pipe)) > 0) output.append(buffer, n);
  if (::pclose(pipe) != 0) Die(command + " failed");
  return output;
}

SqlServer Share(const std::string& name) {
  std::error_code ec;
  const std::string parent = (fs::temp_directory_path(ec) /
                              ("icewright-services-" + std::to_string(::getuid()) + "-" +
                               std::to_string(std::hash<std::string>{}(BuildFolder()) % 1'000'000)))
                                 .string();
  const std::string folder = parent + "/" + name;
  fs::create_directories(folder, ec);
  if (ec) Die("cannot make " + folder + ": " + ec.message());

  // Held until this process ends: tells the watcher that the server is in use.
  OpenLock(folder + ".users", LOCK_SH);
  const int starting = OpenLock(folder + ".lock", LOCK_EX);
  fs::create_directories(folder, ec);  // the watcher may have removed it meanwhile
  std::string port = ReadText(folder + "/port");
  if (port.empty()) {
    port = FreePort();
    std::ofstream(folder + "/port") << port;
  }
  const std::string output = OutputOf("'" + SourceFolder() + "/tools/services/" + name +
                                      ".sh' share '" + folder + "' " + port);
  ::close(starting);

  std::map<std::string, std::string> values;
  for (std::size_t at = 0; at < output.size();) {
    const std::size_t end = std::min(output.find('\n', at), output.size());
    const std::size_t equals = output.find('=', at);
    if (equals < end) {
      values[output.substr(at, equals - at)] = output.substr(equals + 1, end - equals - 1);
    }
    at = end + 1;
  }
  return {values["host"], port, values["user"], values["password"], values["database"]};
}

}  // namespace

const SqlServer& PostgresServer() {
  static const SqlServer server = Share("postgres");
  return server;
}

const SqlServer& MariaDbServer() {
  static const SqlServer server = Share("mariadb");
  return server;
}

const std::string& ZookeeperServer() {
  static const std::string address = [] {
    const SqlServer server = Share("zookeeper");
    return server.host + ":" + server.port;
  }();
  return address;
}

std::string UniqueName(std::string_view prefix) {
  static std::atomic<int> counter{0};
  return std::string(prefix) + "-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

}  // namespace icewright
