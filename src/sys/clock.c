/* CLOCK_BOOTTIME: monotonic, and it counts the time that the machine was suspended. */
#include "addon.h"

#include <errno.h>
#include <math.h>
#include <time.h>

double boottime_ms(void) {
  struct timespec now = {0};
  if (clock_gettime(CLOCK_BOOTTIME, &now) != 0) return NAN;
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* boottimeMs() */
static napi_value tell_boottime_ms(napi_env env, napi_callback_info info) {
  (void)info;
  double ms = boottime_ms();
  if (!isnan(ms)) return number_of(env, ms);
  throw_errno(env, errno, "clock_gettime");
  return NULL;
}

bool init_clock(napi_env env, napi_value exports) {
  napi_value function = NULL;
  return check(env, napi_create_function(env, "boottimeMs", NAPI_AUTO_LENGTH, tell_boottime_ms, NULL, &function),
               "napi_create_function") &&
         check(env, napi_set_named_property(env, exports, "boottimeMs", function), "napi_set_named_property");
}
