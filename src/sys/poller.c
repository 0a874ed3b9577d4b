/* A socket on the event loop: its life from open to close or to the end of the thread, and its two callbacks. */
#include "addon.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void release(poller *self) {
  if (--self->holders == 0) free(self);
}

static void on_finalize(napi_env env, void *data, void *hint) {
  (void)env;
  (void)hint;
  release(data);
}

static void on_handle_closed(uv_handle_t *handle) {
  poller *self = handle->data;
  napi_remove_async_cleanup_hook(self->hook);
  release(self);
}

/* The thread ends with the socket open: close it, and let the thread wait for libuv's confirmation. */
static void on_cleanup(napi_async_cleanup_hook_handle hook, void *data) {
  (void)hook;
  poller_close(data);
}

static void drop_reference(napi_env env, napi_ref *reference) {
  if (*reference != NULL) napi_delete_reference(env, *reference);
  *reference = NULL;
}

/* Idempotent, also from inside a callback: the memory stays until on_handle_closed. */
void poller_close(poller *self) {
  if (self->fd < 0) return;
  uv_close((uv_handle_t *)&self->handle, on_handle_closed);
  close(self->fd);
  self->fd = -1;
  drop_reference(self->env, &self->on_batch);
  drop_reference(self->env, &self->on_error);
  if (self->context != NULL) napi_async_destroy(self->env, self->context);
  self->context = NULL;
  drop_reference(self->env, &self->wrapper);
}

static void start_polling(poller *self);

/*
 * On EPOLLERR libuv stops the handle and calls back once with an error status. The socket is well again as soon as
 * SO_ERROR was read (a link that is up again goes on delivering), so polling starts again; the owner hears why.
 */
static void on_poll(uv_poll_t *handle, int status, int events) {
  (void)events;
  poller *self = handle->data;
  if (status >= 0) {
    self->ready(self);
    return;
  }
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(self->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  start_polling(self);
  /* An overrun (ENOBUFS) of a netlink socket arrives this way too. No error left means that a reader took it. */
  if (error != 0) poller_report(self, uv_err_name(-error));
}

static void start_polling(poller *self) {
  if (self->fd >= 0) uv_poll_start(&self->handle, UV_READABLE, on_poll);
}

static bool wrap(poller *self, napi_value receiver, const napi_type_tag *tag) {
  napi_env env = self->env;
  napi_value name = NULL;
  return check(env, napi_create_string_utf8(env, "arpeggio", NAPI_AUTO_LENGTH, &name), "napi_create_string_utf8") &&
         check(env, napi_async_init(env, receiver, name, &self->context), "napi_async_init") &&
         check(env, napi_type_tag_object(env, receiver, tag), "napi_type_tag_object");
}

bool poller_open(poller *self, napi_env env, napi_value receiver, int fd, const napi_type_tag *tag, napi_value on_batch,
                 napi_value on_error, void (*ready)(poller *self)) {
  uv_loop_t *loop = NULL;
  self->env = env;
  self->ready = ready;
  self->fd = fd;
  self->holders = 1;
  self->handle.data = self;
  if (!read_function(env, on_batch, "onBatch", &self->on_batch) ||
      !read_function(env, on_error, "onError", &self->on_error) || !wrap(self, receiver, tag) ||
      !check(env, napi_get_uv_event_loop(env, &loop), "napi_get_uv_event_loop"))
    goto failed;
  int error = uv_poll_init(loop, &self->handle, fd);
  if (error != 0) {
    throw_errno(env, -error, "uv_poll_init");
    goto failed;
  }
  /* From here on the libuv handle holds the memory as well, and only closing it gives it back. */
  self->holders = 2;
  if (!check(env, napi_add_async_cleanup_hook(env, on_cleanup, self, &self->hook), "napi_add_async_cleanup_hook") ||
      !check(env, napi_wrap(env, receiver, self, on_finalize, NULL, NULL), "napi_wrap")) {
    self->holders = 1;
    poller_close(self);
    return false;
  }
  if (!check(env, napi_create_reference(env, receiver, 1, &self->wrapper), "napi_create_reference")) {
    poller_close(self);
    return false;
  }
  start_polling(self);
  return true;
failed:
  drop_reference(env, &self->on_batch);
  drop_reference(env, &self->on_error);
  if (self->context != NULL) napi_async_destroy(env, self->context);
  close(fd);
  free(self);
  return false;
}

poller *poller_of_any(napi_env env, napi_value receiver, const napi_type_tag *tag) {
  bool is_ours = false;
  void *data = NULL;
  if (napi_check_object_type_tag(env, receiver, tag, &is_ours) != napi_ok || !is_ours ||
      napi_unwrap(env, receiver, &data) != napi_ok) {
    throw_argument(env, "a method of another object");
    return NULL;
  }
  return data;
}

poller *poller_of(napi_env env, napi_value receiver, const napi_type_tag *tag) {
  poller *self = poller_of_any(env, receiver, tag);
  if (self == NULL || self->fd >= 0) return self;
  throw_errno(env, EBADF, "the socket is closed");
  return NULL;
}

/* Calls a callback with the wrapper as receiver. An exception stays pending. */
static bool call(poller *self, napi_ref function, napi_value argument, bool from_loop) {
  napi_env env = self->env;
  napi_value receiver = NULL;
  napi_value callback = NULL;
  if (napi_get_reference_value(env, self->wrapper, &receiver) != napi_ok ||
      napi_get_reference_value(env, function, &callback) != napi_ok || receiver == NULL || callback == NULL)
    return false;
  self->is_delivering = true;
  napi_status status = from_loop ? napi_make_callback(env, self->context, receiver, callback, 1, &argument, NULL)
                                 : napi_call_function(env, receiver, callback, 1, &argument, NULL);
  self->is_delivering = false;
  return status == napi_ok;
}

/* What a callback from the event loop throws has no caller: it becomes an uncaughtException. */
static void raise_pending(napi_env env) {
  bool is_pending = false;
  napi_value error = NULL;
  if (napi_is_exception_pending(env, &is_pending) != napi_ok || !is_pending) return;
  if (napi_get_and_clear_last_exception(env, &error) == napi_ok) napi_fatal_exception(env, error);
}

static bool deliver(poller *self, napi_ref function, napi_value argument, bool from_loop) {
  return argument != NULL && call(self, function, argument, from_loop);
}

bool poller_deliver(poller *self, uint32_t count, bool from_loop) {
  napi_env env = self->env;
  napi_handle_scope scope = NULL;
  if (!from_loop) return deliver(self, self->on_batch, number_of(env, count), false);
  if (napi_open_handle_scope(env, &scope) != napi_ok) return false;
  bool is_done = deliver(self, self->on_batch, number_of(env, count), true);
  if (!is_done) raise_pending(env);
  napi_close_handle_scope(env, scope);
  return is_done;
}

static napi_value string_of(napi_env env, const char *text) {
  napi_value string = NULL;
  return napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &string) == napi_ok ? string : NULL;
}

void poller_report(poller *self, const char *code) {
  napi_env env = self->env;
  napi_handle_scope scope = NULL;
  if (self->fd < 0 || napi_open_handle_scope(env, &scope) != napi_ok) return;
  if (!deliver(self, self->on_error, string_of(env, code), true)) raise_pending(env);
  napi_close_handle_scope(env, scope);
}

bool poller_report_now(poller *self, const char *code) {
  return self->fd < 0 || deliver(self, self->on_error, string_of(self->env, code), false);
}
