#include "testing/tcp_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <vector>

namespace icewright {
namespace {

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

int Dial(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(port);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return fd;
  ::close(fd);
  return -1;
}

struct Wire {
  int client = -1;
  int server = -1;
};

void Close(const Wire& wire) {
  ::close(wire.client);
  ::close(wire.server);
}

// False: an end is closed.
bool Move(int from, int to, bool through, std::atomic<long>* count) {
  char buffer[16384];
  const ssize_t n = ::recv(from, buffer, sizeof(buffer), MSG_DONTWAIT);
  if (n == 0) return false;
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (!through) return true;
  if (count != nullptr) *count += n;
  for (ssize_t sent = 0; sent < n;) {
    const ssize_t m = ::send(to, buffer + sent, static_cast<std::size_t>(n - sent), MSG_NOSIGNAL);
    if (m <= 0) return false;
    sent += m;
  }
  return true;
}

}  // namespace

TcpProxy::TcpProxy(const std::string& target)
    : target_port_(std::atoi(target.substr(target.rfind(':') + 1).c_str())) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t length = sizeof(address);
  if (listener_ < 0 ||
      ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    std::cerr << "tcp_proxy: cannot listen\n";
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

TcpProxy::~TcpProxy() {
  thread_ = {};  // stops and joins
  ::close(listener_);
}

void TcpProxy::Run(const std::stop_token& stop) {
  constexpr int kLookMs = 5;
  std::vector<Wire> wires;
  while (!stop.stop_requested()) {
    std::vector<pollfd> polled = {{.fd = listener_, .events = POLLIN, .revents = 0}};
    for (const Wire& wire : wires) {
      polled.push_back({.fd = wire.client, .events = POLLIN, .revents = 0});
      polled.push_back({.fd = wire.server, .events = POLLIN, .revents = 0});
    }
    (void)::poll(polled.data(), polled.size(), kLookMs);
    if (delay_ms_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms_));
    const Mode mode = mode_;
    std::vector<Wire> kept;
    for (const Wire& wire : wires) {
      const bool to_server = mode == Mode::kForward || mode == Mode::kDropAnswers;
      // What is dropped is read and forgotten.
      const bool alive = mode != Mode::kRefuse &&
                         Move(wire.client, wire.server, to_server, &forwarded_) &&
                         Move(wire.server, wire.client, mode == Mode::kForward, nullptr);
      if (alive) {
        kept.push_back(wire);
      } else {
        Close(wire);
      }
    }
    wires = std::move(kept);
    if ((polled.front().revents & POLLIN) == 0) continue;
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    const int server = mode == Mode::kRefuse ? -1 : Dial(target_port_);
    if (server < 0) {
      ::close(client);
    } else {
      wires.push_back({client, server});
    }
  }
  for (const Wire& wire : wires) Close(wire);
}

}  // namespace icewright
