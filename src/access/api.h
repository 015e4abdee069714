#pragma once

#include <memory>
#include <string_view>

#include "access/call.h"
#include "access/job_watch.h"
#include "access/overview.h"
#include "access/served_archive.h"

namespace stele::access {

// The JSON API: docs/access-api.yaml.
struct ApiContext {
  const ServedArchives& archives;
  const Overviews& overviews;
  JobWatch& jobs;
  std::string_view software;
  bool has_worker = false;
};

// `rest` is what stands behind "api/v1/".
void SendApi(const Call& call, const ApiContext& context, std::string_view rest);

}  // namespace stele::access
