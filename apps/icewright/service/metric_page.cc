#include "icewright/service/metric_page.h"

#include <prometheus/text_serializer.h>

#include <sstream>

namespace icewright::cli {

LabelList With(LabelList labels, std::string name, std::string value) {
  labels.emplace_back(std::move(name), std::move(value));
  return labels;
}

prometheus::ClientMetric& MetricPage::Series(std::string_view name, std::string_view help,
                                             prometheus::MetricType type, const LabelList& labels) {
  const auto [place, is_new] = places_.try_emplace(std::string(name), families_.size());
  if (is_new) families_.push_back({std::string(name), std::string(help), type, {}});
  prometheus::ClientMetric& metric = families_[place->second].metric.emplace_back();
  for (const auto& [key, value] : labels) metric.label.push_back({key, value});
  return metric;
}

void MetricPage::Add(std::string_view name, std::string_view help, prometheus::MetricType type,
                     const LabelList& labels, double value) {
  prometheus::ClientMetric& metric = Series(name, help, type, labels);
  metric.gauge.value = value;
  metric.counter.value = value;
}

void MetricPage::AddHistogram(std::string_view name, std::string_view help, const LabelList& labels,
                              prometheus::ClientMetric::Histogram histogram) {
  Series(name, help, prometheus::MetricType::Histogram, labels).histogram = std::move(histogram);
}

std::string MetricPage::Text() {
  const prometheus::TextSerializer serializer;
  std::ostringstream out;
  std::vector<prometheus::MetricFamily> one(1);
  for (prometheus::MetricFamily& family : families_) {
    one.front() = std::move(family);
    serializer.Serialize(out, one);
  }
  return std::move(out).str();
}

}  // namespace icewright::cli
