#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "access/call.h"
#include "access/gate.h"
#include "access/job_watch.h"
#include "access/overview.h"
#include "access/served_archive.h"

namespace stele::access {

// The JSON API: docs/access-api.yaml.
struct ApiContext {
  const ServedArchives& archives;
  Overviews& overviews;
  Gate& gate;
  JobWatch& jobs;
  std::string_view software;
  bool has_worker = false;
};

// All paths below "api/v1/", as docs/access-api.yaml has them.
std::vector<std::string_view> ApiRoutes();

// `rest` is what stands behind "api/v1/".
void SendApi(const Call& call, const ApiContext& context, std::string_view rest);

}  // namespace stele::access
