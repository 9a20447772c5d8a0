#pragma once

/// \file schedule/child_task.h
/// The task's side of a process of its own: `icewright task`.

#include "base/result.h"
#include "base/run_context.h"

namespace icewright {

/// Reads a request from `in`, runs the task, writes progress, questions and the result to `out`.
/// Closes both. Before each commit and each delete batch it asks the service whether it still holds
/// the lock; no answer, or the end of the pipe, means that it does not: the run stops.
/// Errors: kInvalidArgument: what came is no request. Errors of the task are in its result.
Status ServeChildTask(int in, int out);

}  // namespace icewright
