/* CLOCK_BOOTTIME: monotonic, and it counts the time that the machine was suspended. */
#include "addon.h"

#include <errno.h>
#include <time.h>

/* boottimeMs(): milliseconds since the machine was started, with a fraction. */
static napi_value boottime_ms(napi_env env, napi_callback_info info) {
  (void)info;
  struct timespec now = {0};
  if (clock_gettime(CLOCK_BOOTTIME, &now) != 0) {
    throw_errno(env, errno, "clock_gettime");
    return NULL;
  }
  return number_of(env, (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6);
}

bool init_clock(napi_env env, napi_value exports) {
  napi_value function = NULL;
  return check(env, napi_create_function(env, "boottimeMs", NAPI_AUTO_LENGTH, boottime_ms, NULL, &function),
               "napi_create_function") &&
         check(env, napi_set_named_property(env, exports, "boottimeMs", function), "napi_set_named_property");
}
