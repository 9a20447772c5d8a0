#include "data/splice/statistics.h"

#include <algorithm>

namespace icewright::splice {
namespace {

std::optional<Bytes> ConvertBound(const std::optional<ByteView>& bound, const Leaf& from,
                                  const Leaf& to, Conversion conversion) {
  if (!bound || !HasWidth(from, *bound) || IsNan(from.order, *bound)) return {};
  if (conversion == Conversion::kNone) return Bytes(*bound);
  Scratch out;
  if (!ConvertValues(conversion, from.width, to.width, *bound, out)) return {};
  return Bytes(out.view());
}

void AddHistogram(std::vector<std::int64_t>& sum, const std::vector<std::int64_t>& part) {
  if (sum.size() != part.size()) {
    sum.clear();
    return;
  }
  for (std::size_t i = 0; i < sum.size(); ++i) {
    if (__builtin_add_overflow(sum[i], part[i], &sum[i])) return sum.clear();
  }
}

}  // namespace

OwnedStatistics ConvertStatistics(const Statistics& in, const Leaf& from, const Leaf& to,
                                  Conversion conversion, bool type_defined_order) {
  OwnedStatistics out;
  out.null_count = in.null_count;
  if (!type_defined_order || from.order == Order::kUndefined) return out;
  out.min = ConvertBound(in.min, from, to, conversion);
  out.max = ConvertBound(in.max, from, to, conversion);
  if (!out.min || !out.max) {
    out.min.reset();
    out.max.reset();
    return out;
  }
  out.min_exact = in.min_exact;
  out.max_exact = in.max_exact;
  out.exact_known = in.exact_known;
  return out;
}

void StatisticsMerger::Add(const OwnedStatistics& part, std::int64_t values) {
  if (part.null_count) {
    nulls_ += *part.null_count;
  } else {
    nulls_known_ = false;
  }
  if (!bounds_known_ || values == 0 || part.null_count == values) return;
  if (!part.min || !part.max) {
    bounds_known_ = false;
    return;
  }
  exact_known_ = exact_known_ && part.exact_known;
  const auto take = [&](std::optional<Bytes>& best, bool& best_exact, const Bytes& value,
                        bool exact, int sign) {
    const int order = best ? CompareValues(order_, value, *best) * sign : -1;
    if (order < 0) {
      best = value;
      best_exact = exact;
    } else if (order == 0) {
      best_exact = best_exact || exact;
    }
  };
  take(min_, min_exact_, *part.min, part.min_exact, 1);
  take(max_, max_exact_, *part.max, part.max_exact, -1);
}

void StatisticsMerger::Write(ThriftWriter& w, int id) const {
  if (!nulls_known_ && !has_bounds()) return;
  w.BeginField(id);
  if (nulls_known_) w.I64(3, nulls_);
  if (has_bounds()) {
    w.Binary(5, *max_);
    w.Binary(6, *min_);
    if (exact_known_) {
      w.Flag(7, max_exact_);
      w.Flag(8, min_exact_);
    }
  }
  w.End();
}

void SizesMerger::Add(const SizeStatistics& part) {
  if (part.empty()) known_ = false;
  if (!known_) return;
  if (std::exchange(first_, false)) {
    sum_ = part;
    return;
  }
  // Numbers of footers, which may be any.
  if (!sum_.unencoded_bytes || !part.unencoded_bytes ||
      __builtin_add_overflow(*sum_.unencoded_bytes, *part.unencoded_bytes,
                             &*sum_.unencoded_bytes)) {
    sum_.unencoded_bytes.reset();
  }
  AddHistogram(sum_.repetition, part.repetition);
  AddHistogram(sum_.definition, part.definition);
}

void SizesMerger::Write(ThriftWriter& w, int id) const {
  if (!known_ || sum_.empty()) return;
  w.BeginField(id);
  if (sum_.unencoded_bytes) w.I64(1, *sum_.unencoded_bytes);
  int list_id = 2;
  for (const auto* histogram : {&sum_.repetition, &sum_.definition}) {
    if (!histogram->empty()) {
      w.List(list_id, Wire::kI64, histogram->size());
      for (const std::int64_t count : *histogram) w.Element(count);
    }
    ++list_id;
  }
  w.End();
}

}  // namespace icewright::splice
