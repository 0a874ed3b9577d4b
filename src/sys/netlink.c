/* AF_NETLINK, route family: notifications by subscription, and answers to dump requests, on one socket. */
#include "addon.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  ARENA_BYTES = 256 * 1024,
  /* The kernel fills the parts of a dump up to 32 KiB; a datagram that does not fit is lost. */
  DATAGRAM_BYTES = 64 * 1024,
  ARENAS_A_TURN = 4
};

typedef struct {
  poller base;
  uint8_t *rx;
} netlink_socket;

static const napi_type_tag TAG = {0x6172706567676970, 0x6e65746c696e6b31};

/* One datagram into the arena: its bytes; 0 when it is to be skipped; -1 with errno set. */
static ssize_t receive_one(netlink_socket *self, size_t offset) {
  struct sockaddr_nl sender = {0};
  struct iovec slot = {.iov_base = self->rx + offset, .iov_len = DATAGRAM_BYTES};
  struct msghdr header = {.msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &slot, .msg_iovlen = 1};
  ssize_t length;
  do length = recvmsg(self->base.fd, &header, MSG_DONTWAIT);
  while (length < 0 && errno == EINTR);
  if (length < 0) return -1;
  if ((header.msg_flags & MSG_TRUNC) != 0) {
    /* Part of the truth is missing, as after an overrun. */
    errno = ENOBUFS;
    return -1;
  }
  /* Any process may send to us; only the kernel has port 0. */
  return sender.nl_pid == 0 ? length : 0;
}

/* Bytes of whole messages in the arena; *error is the errno that ended the reading, EAGAIN when the queue is empty. */
static size_t receive(netlink_socket *self, int *error) {
  size_t used = 0;
  *error = 0;
  while (used + DATAGRAM_BYTES <= ARENA_BYTES) {
    ssize_t length = receive_one(self, used);
    if (length < 0) {
      *error = errno;
      break;
    }
    used += NLMSG_ALIGN((size_t)length);
  }
  return used;
}

/* Reads until empty. What came before an overrun is delivered before it. */
static double read_all(netlink_socket *self, int turns, bool from_loop) {
  poller *base = &self->base;
  double bytes = 0;
  for (int turn = 0; turn < turns && base->fd >= 0 && !base->is_delivering; turn++) {
    int error;
    size_t used = receive(self, &error);
    bytes += (double)used;
    if (used > 0 && !poller_deliver(base, (uint32_t)used, from_loop)) return -1;
    if (error == EAGAIN || base->fd < 0) break;
    if (error == 0) continue;
    if (from_loop) poller_report(base, uv_err_name(-error));
    else if (!poller_report_now(base, uv_err_name(-error))) return -1;
  }
  return bytes;
}

static void on_readable(poller *base) { read_all((netlink_socket *)base, ARENAS_A_TURN, true); }

static int open_socket(uint32_t groups, uint32_t receive_bytes, const char **call) {
  const int bytes = (int)receive_bytes;
  struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
  *call = "socket";
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return -1;
  if ((*call = "SO_RCVBUF", setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) == 0) &&
      (*call = "bind", bind(fd, (struct sockaddr *)&address, sizeof address) == 0))
    return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

/* new NetlinkSocket(groups, receiveBufferBytes, onBatch, onError); `groups` is the bit mask of RTMGRP_*. */
static napi_value construct(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  napi_value receiver;
  uint32_t groups, receive_bytes;
  if (!require_new(env, info) || !read_arguments(env, info, 4, arguments, &receiver) ||
      !read_u32(env, arguments[0], UINT32_MAX, "groups", &groups) ||
      !read_u32(env, arguments[1], INT32_MAX, "receiveBufferBytes", &receive_bytes))
    return NULL;
  netlink_socket *self = calloc(1, sizeof *self);
  if (self == NULL) return throw_errno(env, ENOMEM, "calloc"), NULL;
  if (!add_bytes(env, receiver, "rx", ARENA_BYTES, &self->rx)) {
    free(self);
    return NULL;
  }
  const char *call;
  int fd = open_socket(groups, receive_bytes, &call);
  if (fd < 0) {
    throw_errno(env, errno, call);
    free(self);
    return NULL;
  }
  poller_open(&self->base, env, receiver, fd, &TAG, arguments[2], arguments[3], on_readable);
  return NULL;
}

static netlink_socket *socket_of(napi_env env, napi_callback_info info, size_t count, napi_value *arguments) {
  napi_value receiver;
  if (!read_arguments(env, info, count, arguments, &receiver)) return NULL;
  return (netlink_socket *)poller_of(env, receiver, &TAG);
}

/* send(message): to the kernel. */
static napi_value send_message(napi_env env, napi_callback_info info) {
  napi_value message;
  uint8_t *bytes;
  size_t length;
  netlink_socket *self = socket_of(env, info, 1, &message);
  if (self == NULL || !read_bytes(env, message, "message", &bytes, &length)) return NULL;
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  if (sendto(self->base.fd, bytes, length, 0, (struct sockaddr *)&kernel, sizeof kernel) < 0)
    throw_errno(env, errno, "sendto");
  return NULL;
}

/* drain(): reads and delivers until the queue is empty; the number of bytes. */
static napi_value drain(napi_env env, napi_callback_info info) {
  netlink_socket *self = socket_of(env, info, 0, NULL);
  if (self == NULL) return NULL;
  double bytes = read_all(self, INT32_MAX, false);
  return bytes < 0 ? NULL : number_of(env, bytes);
}

static napi_value close_socket(napi_env env, napi_callback_info info) {
  napi_value receiver;
  if (!read_arguments(env, info, 0, NULL, &receiver)) return NULL;
  poller *self = poller_of_any(env, receiver, &TAG);
  if (self != NULL) poller_close(self);
  return NULL;
}

bool init_netlink(napi_env env, napi_value exports) {
  const napi_property_descriptor methods[] = {
      {.utf8name = "send", .method = send_message},
      {.utf8name = "drain", .method = drain},
      {.utf8name = "close", .method = close_socket},
  };
  return define_class(env, exports, "NetlinkSocket", construct, methods, sizeof methods / sizeof *methods);
}
