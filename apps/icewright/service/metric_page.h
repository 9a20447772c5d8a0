#pragma once

/// \file icewright/service/metric_page.h
/// Metrics on their way into Prometheus' text format.

#include <prometheus/metric_family.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace icewright::cli {

using LabelList = std::vector<std::pair<std::string, std::string>>;

LabelList With(LabelList labels, std::string name, std::string value);

/// Collects values by metric. Series of one metric need different labels. Single-threaded.
class MetricPage {
 public:
  void Add(std::string_view name, std::string_view help, prometheus::MetricType type,
           const LabelList& labels, double value);
  void AddHistogram(std::string_view name, std::string_view help, const LabelList& labels,
                    prometheus::ClientMetric::Histogram histogram);

  /// Once: what has been written is let go on the way.
  std::string Text();

 private:
  prometheus::ClientMetric& Series(std::string_view name, std::string_view help,
                                   prometheus::MetricType type, const LabelList& labels);

  std::vector<prometheus::MetricFamily> families_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace icewright::cli
