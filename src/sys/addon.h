/* Shared by the addon's files: argument helpers, and the poller that every watched socket embeds. */
#ifndef ARPEGGIO_ADDON_H
#define ARPEGGIO_ADDON_H

#define NAPI_VERSION 9
#define _GNU_SOURCE

#include <node_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

/* Throws an Error whose `code` is the errno name, such as "ENODEV", and whose message names the system call. */
void throw_errno(napi_env env, int error, const char *call);
/* Throws an Error for a fault of our own caller. */
void throw_argument(napi_env env, const char *message);
/* Turns a failed N-API call into an exception, unless one is pending already; false when `status` is not ok. */
bool check(napi_env env, napi_status status, const char *call);

/* Argument readers: false, with an exception pending, when the value has another type or does not fit. */
bool read_u32(napi_env env, napi_value value, uint32_t max, const char *name, uint32_t *result);
bool read_double(napi_env env, napi_value value, const char *name, double *result);
bool read_bytes(napi_env env, napi_value value, const char *name, uint8_t **data, size_t *length);
bool read_function(napi_env env, napi_value value, const char *name, napi_ref *reference);
/* Reads exactly `count` arguments and the receiver. */
bool read_arguments(napi_env env, napi_callback_info info, size_t count, napi_value *arguments, napi_value *receiver);

/* Milliseconds since the machine was started, with a fraction; NaN, with errno set, where the kernel has no such clock. */
double boottime_ms(void);

napi_value number_of(napi_env env, double value);
bool set_number(napi_env env, napi_value object, const char *name, double value);
/* Makes a Uint8Array property on `object`; `data` stays valid while the object lives. */
bool add_bytes(napi_env env, napi_value object, const char *name, size_t length, uint8_t **data);
bool add_words(napi_env env, napi_value object, const char *name, size_t count, uint32_t **data);

bool define_class(napi_env env, napi_value exports, const char *name, napi_callback constructor,
                  const napi_property_descriptor *methods, size_t count);
/* False, with an exception pending, unless the call was made with `new`. */
bool require_new(napi_env env, napi_callback_info info);

/*
 * A file descriptor on the event loop of the thread that opened it. The structure that embeds a poller is freed when
 * two holders have let go: the JavaScript object and the libuv handle, in either order.
 */
typedef struct poller poller;
struct poller {
  napi_env env;
  napi_ref wrapper; /* strong while open: an open socket is not collected */
  napi_ref on_batch;
  napi_ref on_error;
  napi_async_context context;
  napi_async_cleanup_hook_handle hook;
  uv_poll_t handle;
  int fd; /* -1 when closed */
  int holders;
  bool is_delivering; /* a callback runs: the arena belongs to it */
  void (*ready)(poller *self);
};

/* Takes over `fd` and `self` (heap memory whose first member is the poller); on failure both are released. */
bool poller_open(poller *self, napi_env env, napi_value receiver, int fd, const napi_type_tag *tag, napi_value on_batch,
                 napi_value on_error, void (*ready)(poller *self));
void poller_close(poller *self);
/* The open poller behind `receiver`; NULL, with an exception pending, for another object or after close. */
poller *poller_of(napi_env env, napi_value receiver, const napi_type_tag *tag);
/* As poller_of, but also after close. */
poller *poller_of_any(napi_env env, napi_value receiver, const napi_type_tag *tag);
/* Calls on_batch(count): from the event loop, or straight from the JavaScript that asked. */
bool poller_deliver(poller *self, uint32_t count, bool from_loop);
/* Calls on_error(errno name) from the event loop. */
void poller_report(poller *self, const char *code);
/* Calls on_error(errno name) straight from the JavaScript that asked; false when it threw. */
bool poller_report_now(poller *self, const char *code);

bool init_clock(napi_env env, napi_value exports);
bool init_packet(napi_env env, napi_value exports);
bool init_netlink(napi_env env, napi_value exports);
bool init_groups(napi_env env, napi_value exports);
bool init_rank(napi_env env, napi_value exports);

#endif
