#pragma once

/// \file testing/tcp_proxy.h
/// A wire that a test can cut: forwards one port to another until told otherwise.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

namespace icewright {

/// Thread-safe. Aborts the test program if it cannot listen.
class TcpProxy {
 public:
  /// `target`: "127.0.0.1:5432".
  explicit TcpProxy(const std::string& target);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  std::string port() const { return std::to_string(port_); }
  std::string address() const { return "127.0.0.1:" + port(); }

  void Forward() { mode_ = Mode::kForward; }

  /// Everything goes through, each piece so much later.
  void Delay(std::chrono::milliseconds delay) { delay_ms_ = delay.count(); }

  /// Connections stay, but nothing goes through, as behind a firewall that drops packets.
  void Drop() { mode_ = Mode::kDrop; }

  /// What clients send goes through, what is answered does not: the outcome is unknown to them.
  void DropAnswers() { mode_ = Mode::kDropAnswers; }

  /// Connections are closed, new ones at once.
  void Refuse() { mode_ = Mode::kRefuse; }

  /// Bytes that clients have sent.
  long forwarded() const { return forwarded_; }

 private:
  enum class Mode { kForward, kDrop, kDropAnswers, kRefuse };
  void Run(const std::stop_token& stop);

  int target_port_ = 0;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<Mode> mode_{Mode::kForward};
  std::atomic<long> forwarded_{0};
  std::atomic<std::int64_t> delay_ms_{0};
  std::jthread thread_;
};

}  // namespace icewright
