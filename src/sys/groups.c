/*
 * Memberships in IPv6 multicast groups. A membership lives as long as a socket holds it, and makes the kernel send
 * MLD reports, without which a switch with MLD snooping forwards no solicitation. The socket is never bound: it receives nothing.
 */
#include "addon.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct {
  int fd;
} group_socket;

static const napi_type_tag TAG = {0x6172706567676970, 0x67726f7570733031};

static void close_descriptor(group_socket *self) {
  if (self->fd >= 0) close(self->fd);
  self->fd = -1;
}

/* Runs at the end of the thread too: no cleanup hook is needed for a socket that is not on the event loop. */
static void on_finalize(napi_env env, void *data, void *hint) {
  (void)env;
  (void)hint;
  close_descriptor(data);
  free(data);
}

/* new GroupSocket() */
static napi_value construct(napi_env env, napi_callback_info info) {
  napi_value receiver;
  if (!require_new(env, info) || !read_arguments(env, info, 0, NULL, &receiver)) return NULL;
  group_socket *self = calloc(1, sizeof *self);
  if (self == NULL) return throw_errno(env, ENOMEM, "calloc"), NULL;
  self->fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (self->fd < 0) throw_errno(env, errno, "socket");
  if (self->fd < 0 || !check(env, napi_type_tag_object(env, receiver, &TAG), "napi_type_tag_object") ||
      !check(env, napi_wrap(env, receiver, self, on_finalize, NULL, NULL), "napi_wrap")) {
    close_descriptor(self);
    free(self);
  }
  return NULL;
}

static group_socket *socket_of(napi_env env, napi_value receiver) {
  bool is_ours = false;
  void *data = NULL;
  if (napi_check_object_type_tag(env, receiver, &TAG, &is_ours) == napi_ok && is_ours &&
      napi_unwrap(env, receiver, &data) == napi_ok)
    return data;
  throw_argument(env, "a method of another object");
  return NULL;
}

static napi_value change(napi_env env, napi_callback_info info, int option, const char *call) {
  napi_value arguments[2];
  napi_value receiver;
  uint32_t link_index;
  uint8_t *group;
  size_t length;
  if (!read_arguments(env, info, 2, arguments, &receiver)) return NULL;
  group_socket *self = socket_of(env, receiver);
  if (self == NULL || !read_u32(env, arguments[0], INT32_MAX, "linkIndex", &link_index) ||
      !read_bytes(env, arguments[1], "group", &group, &length))
    return NULL;
  struct ipv6_mreq request = {.ipv6mr_interface = link_index};
  if (length != sizeof request.ipv6mr_multiaddr) {
    throw_argument(env, "group: 16 bytes");
    return NULL;
  }
  memcpy(&request.ipv6mr_multiaddr, group, length);
  if (setsockopt(self->fd, IPPROTO_IPV6, option, &request, sizeof request) != 0) throw_errno(env, errno, call);
  return NULL;
}

/* join(linkIndex, group) */
static napi_value join_group(napi_env env, napi_callback_info info) {
  return change(env, info, IPV6_JOIN_GROUP, "IPV6_JOIN_GROUP");
}

/* leave(linkIndex, group) */
static napi_value leave_group(napi_env env, napi_callback_info info) {
  return change(env, info, IPV6_LEAVE_GROUP, "IPV6_LEAVE_GROUP");
}

static napi_value close_socket(napi_env env, napi_callback_info info) {
  napi_value receiver;
  if (!read_arguments(env, info, 0, NULL, &receiver)) return NULL;
  group_socket *self = socket_of(env, receiver);
  if (self != NULL) close_descriptor(self);
  return NULL;
}

bool init_groups(napi_env env, napi_value exports) {
  const napi_property_descriptor methods[] = {
      {.utf8name = "join", .method = join_group},
      {.utf8name = "leave", .method = leave_group},
      {.utf8name = "close", .method = close_socket},
  };
  return define_class(env, exports, "GroupSocket", construct, methods, sizeof methods / sizeof *methods);
}
