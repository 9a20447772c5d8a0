#pragma once

/// \file icewright/service/prometheus_metrics.h
/// A service's state as metrics of Prometheus.

#include <string>

#include "schedule/service_status.h"

namespace icewright::cli {

/// Our own names, in snake case with base units. docs/service.md lists them.
std::string RenderMetrics(const ServiceStatus& status);

enum class LabelValues { kAsTheyAre, kFiltered };

/// The names and labels that Flink's reporter gives to the metrics of Flink's table maintenance, so
/// that dashboards go on. kFiltered: labels hold letters, digits, ':' and '_' only, which is that
/// reporter's default.
///
/// Java twin: TableMaintenanceMetrics.
std::string RenderFlinkMetrics(const ServiceStatus& status, LabelValues values);

}  // namespace icewright::cli
