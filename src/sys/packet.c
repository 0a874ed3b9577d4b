/* AF_PACKET: one link, one protocol, frames in batches through an arena that JavaScript and the kernel share. */
#include "addon.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  /* One system call and one JavaScript call serve up to this many frames. */
  BATCH = 64,
  /* Batches served in one turn of the event loop, so that one busy link does not starve the others. */
  BATCHES_A_TURN = 8,
  /* An upper bound for reading "until empty" while a flood keeps filling the queue: many times what the queue holds. */
  BATCHES_A_DRAIN = 256,
  MAX_SLOT_BYTES = 65536,
  /* Second word of a frame's metadata when the kernel stripped no VLAN tag from it; a tag has 16 bits. */
  NO_VLAN = 0x10000
};

typedef struct {
  poller base;
  uint8_t *rx;
  uint32_t *rx_words; /* two a frame: captured length in bytes; VLAN TCI or NO_VLAN */
  uint8_t *tx;
  uint32_t *tx_lengths;
  uint32_t slot_bytes;
  double received, batches, sent, refused, expired;
  double kernel_drops;
  struct mmsghdr rx_headers[BATCH], tx_headers[BATCH];
  struct iovec rx_slots[BATCH], tx_slots[BATCH];
  _Alignas(struct cmsghdr) uint8_t controls[BATCH][CMSG_SPACE(sizeof(struct tpacket_auxdata))];
} packet_socket;

static const napi_type_tag TAG = {0x6172706567676970, 0x61636b6574303031};

static void prepare(packet_socket *self) {
  for (size_t i = 0; i < BATCH; i++) {
    self->rx_slots[i] = (struct iovec){.iov_base = self->rx + i * self->slot_bytes, .iov_len = self->slot_bytes};
    self->tx_slots[i] = (struct iovec){.iov_base = self->tx + i * self->slot_bytes};
    self->rx_headers[i].msg_hdr = (struct msghdr){.msg_iov = &self->rx_slots[i],
                                                  .msg_iovlen = 1,
                                                  .msg_control = self->controls[i],
                                                  .msg_controllen = sizeof self->controls[i]};
    self->tx_headers[i].msg_hdr = (struct msghdr){.msg_iov = &self->tx_slots[i], .msg_iovlen = 1};
  }
}

static uint32_t vlan_of(struct msghdr *header) {
  for (struct cmsghdr *control = CMSG_FIRSTHDR(header); control != NULL; control = CMSG_NXTHDR(header, control)) {
    if (control->cmsg_level != SOL_PACKET || control->cmsg_type != PACKET_AUXDATA) continue;
    struct tpacket_auxdata aux;
    memcpy(&aux, CMSG_DATA(control), sizeof aux);
    if ((aux.tp_status & TP_STATUS_VLAN_VALID) != 0) return aux.tp_vlan_tci;
  }
  return NO_VLAN;
}

/* Number of frames now in the arena; 0 when the queue is empty; -1 with errno set on an error. */
static int receive(packet_socket *self) {
  int count;
  do count = recvmmsg(self->base.fd, self->rx_headers, BATCH, MSG_DONTWAIT, NULL);
  while (count < 0 && errno == EINTR);
  if (count < 0) return errno == EAGAIN ? 0 : -1;
  for (int i = 0; i < count; i++) {
    self->rx_words[2 * i] = self->rx_headers[i].msg_len;
    self->rx_words[2 * i + 1] = vlan_of(&self->rx_headers[i].msg_hdr);
    /* The kernel shortened it to what it wrote. Touching only the used headers keeps a lone frame's answer quick. */
    self->rx_headers[i].msg_hdr.msg_controllen = sizeof self->controls[i];
  }
  self->received += count;
  return count;
}

static void on_readable(poller *base) {
  packet_socket *self = (packet_socket *)base;
  for (int batch = 0; batch < BATCHES_A_TURN; batch++) {
    int count = receive(self);
    if (count < 0) poller_report(base, uv_err_name(-errno));
    if (count <= 0) return;
    self->batches++;
    /* The callback may close the socket. */
    if (!poller_deliver(base, (uint32_t)count, true) || base->fd < 0 || count < BATCH) return;
  }
}

static int attach_filter(int fd, uint8_t *program, size_t length) {
  struct sock_fprog code = {.len = (unsigned short)(length / sizeof(struct sock_filter)), .filter = (void *)program};
  return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &code, sizeof code);
}

static bool read_program(napi_env env, napi_value value, uint8_t **program, size_t *length) {
  if (!read_bytes(env, value, "filter", program, length)) return false;
  if (*length > 0 && *length % sizeof(struct sock_filter) == 0 && *length / sizeof(struct sock_filter) <= BPF_MAXINSNS &&
      (uintptr_t)*program % _Alignof(struct sock_filter) == 0)
    return true;
  throw_argument(env, "filter: a whole number of instructions, 1 to 4096, aligned");
  return false;
}

/* The order matters: with protocol 0 nothing is queued before the filter stands and outgoing frames are ignored. */
static int open_socket(uint32_t link_index, uint32_t protocol, uint32_t receive_bytes, uint8_t *program, size_t length,
                       const char **call) {
  const int on = 1;
  const int bytes = (int)receive_bytes;
  struct sockaddr_ll address = {
      .sll_family = AF_PACKET, .sll_protocol = htons((uint16_t)protocol), .sll_ifindex = (int)link_index};
  *call = "socket";
  int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  if ((*call = "SO_ATTACH_FILTER", attach_filter(fd, program, length) == 0) &&
      (*call = "PACKET_IGNORE_OUTGOING", setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) == 0) &&
      (*call = "PACKET_AUXDATA", setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof on) == 0) &&
      (*call = "SO_RCVBUF", setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) == 0) &&
      (*call = "bind", bind(fd, (struct sockaddr *)&address, sizeof address) == 0))
    return fd;
  int error = errno;
  close(fd);
  errno = error;
  return -1;
}

/* new PacketSocket(linkIndex, protocol, slotBytes, receiveBufferBytes, filter, onBatch, onError) */
static napi_value construct(napi_env env, napi_callback_info info) {
  napi_value arguments[7];
  napi_value receiver;
  uint32_t link_index, protocol, slot_bytes, receive_bytes;
  uint8_t *program;
  size_t length;
  if (!require_new(env, info) || !read_arguments(env, info, 7, arguments, &receiver) ||
      !read_u32(env, arguments[0], INT32_MAX, "linkIndex", &link_index) ||
      !read_u32(env, arguments[1], UINT16_MAX, "protocol", &protocol) ||
      !read_u32(env, arguments[2], MAX_SLOT_BYTES, "slotBytes", &slot_bytes) ||
      !read_u32(env, arguments[3], INT32_MAX, "receiveBufferBytes", &receive_bytes) ||
      !read_program(env, arguments[4], &program, &length))
    return NULL;
  packet_socket *self = calloc(1, sizeof *self);
  if (self == NULL) return throw_errno(env, ENOMEM, "calloc"), NULL;
  self->slot_bytes = slot_bytes;
  if (!add_bytes(env, receiver, "rx", (size_t)BATCH * slot_bytes, &self->rx) ||
      !add_words(env, receiver, "rxWords", (size_t)2 * BATCH, &self->rx_words) ||
      !add_bytes(env, receiver, "tx", (size_t)BATCH * slot_bytes, &self->tx) ||
      !add_words(env, receiver, "txLengths", BATCH, &self->tx_lengths)) {
    free(self);
    return NULL;
  }
  prepare(self);
  const char *call;
  int fd = open_socket(link_index, protocol, receive_bytes, program, length, &call);
  if (fd < 0) {
    throw_errno(env, errno, call);
    free(self);
    return NULL;
  }
  poller_open(&self->base, env, receiver, fd, &TAG, arguments[5], arguments[6], on_readable);
  return NULL;
}

static packet_socket *socket_of(napi_env env, napi_callback_info info, size_t count, napi_value *arguments) {
  napi_value receiver;
  if (!read_arguments(env, info, count, arguments, &receiver)) return NULL;
  return (packet_socket *)poller_of(env, receiver, &TAG);
}

/* setFilter(program): replaces the filter at once; what is queued already stays queued. */
static napi_value set_filter(napi_env env, napi_callback_info info) {
  napi_value program_value;
  uint8_t *program;
  size_t length;
  packet_socket *self = socket_of(env, info, 1, &program_value);
  if (self == NULL || !read_program(env, program_value, &program, &length)) return NULL;
  if (attach_filter(self->base.fd, program, length) != 0) throw_errno(env, errno, "SO_ATTACH_FILTER");
  return NULL;
}

/*
 * flush(count, untilMs): sends the first `count` slots of the tx arena; the errno name of the last refusal, or undefined.
 * A refused frame is counted and left out: who asked for it asks again. So is what would leave after `untilMs` of boottimeMs():
 * a process that was stopped on its way here must not say what was true before, and nothing nearer to the kernel can look.
 */
static napi_value flush(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  napi_value name = NULL;
  uint32_t count;
  double until_ms;
  packet_socket *self = socket_of(env, info, 2, arguments);
  if (self == NULL || !read_u32(env, arguments[0], BATCH, "count", &count) ||
      !read_double(env, arguments[1], "untilMs", &until_ms))
    return NULL;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t length = self->tx_lengths[i];
    self->tx_slots[i].iov_len = length < self->slot_bytes ? length : self->slot_bytes;
  }
  int error = 0;
  for (uint32_t done = 0; done < count;) {
    if (boottime_ms() > until_ms) {
      self->expired += count - done;
      break;
    }
    int sent = sendmmsg(self->base.fd, self->tx_headers + done, count - done, MSG_DONTWAIT);
    if (sent > 0) {
      self->sent += sent;
      done += (uint32_t)sent;
    } else if (errno != EINTR) {
      error = errno;
      self->refused++;
      done++;
    }
  }
  if (error == 0) return NULL;
  check(env, napi_create_string_utf8(env, uv_err_name(-error), NAPI_AUTO_LENGTH, &name), "napi_create_string_utf8");
  return name;
}

/* drain(): reads and delivers until the queue is empty; the number of frames. 0 from inside onBatch: its arena is in use. */
static napi_value drain(napi_env env, napi_callback_info info) {
  packet_socket *self = socket_of(env, info, 0, NULL);
  if (self == NULL) return NULL;
  double frames = 0;
  for (int batch = 0; batch < BATCHES_A_DRAIN && self->base.fd >= 0 && !self->base.is_delivering; batch++) {
    int count = receive(self);
    if (count < 0 && !poller_report_now(&self->base, uv_err_name(-errno))) return NULL;
    if (count <= 0) break;
    frames += count;
    self->batches++;
    if (!poller_deliver(&self->base, (uint32_t)count, false)) return NULL;
    if (count < BATCH) break;
  }
  return number_of(env, frames);
}

/* discard(): drops what is queued, unseen, also from inside onBatch; the number of frames. */
static napi_value discard(napi_env env, napi_callback_info info) {
  packet_socket *self = socket_of(env, info, 0, NULL);
  if (self == NULL) return NULL;
  uint8_t scratch;
  double frames = 0;
  while (frames < (double)BATCH * BATCHES_A_DRAIN) {
    if (recv(self->base.fd, &scratch, sizeof scratch, MSG_DONTWAIT) >= 0) frames++;
    else if (errno != EINTR) break;
  }
  self->received += frames;
  return number_of(env, frames);
}

/* boundIndex(): the link that the kernel holds for this socket; -1 when that link is gone, even if one of its name is back. */
static napi_value bound_index(napi_env env, napi_callback_info info) {
  packet_socket *self = socket_of(env, info, 0, NULL);
  if (self == NULL) return NULL;
  struct sockaddr_ll address = {0};
  socklen_t length = sizeof address;
  if (getsockname(self->base.fd, (struct sockaddr *)&address, &length) != 0) {
    throw_errno(env, errno, "getsockname");
    return NULL;
  }
  return number_of(env, address.sll_ifindex);
}

/* statistics(): since the socket was opened. `dropped` passed the filter and found the queue full. */
static napi_value statistics(napi_env env, napi_callback_info info) {
  packet_socket *self = socket_of(env, info, 0, NULL);
  napi_value object;
  struct tpacket_stats kernel = {0};
  socklen_t length = sizeof kernel;
  if (self == NULL || !check(env, napi_create_object(env, &object), "napi_create_object")) return NULL;
  /* Reading resets the kernel's own counters. */
  if (getsockopt(self->base.fd, SOL_PACKET, PACKET_STATISTICS, &kernel, &length) == 0)
    self->kernel_drops += kernel.tp_drops;
  return set_number(env, object, "received", self->received) && set_number(env, object, "batches", self->batches) &&
                 set_number(env, object, "dropped", self->kernel_drops) &&
                 set_number(env, object, "sent", self->sent) && set_number(env, object, "refused", self->refused) &&
                 set_number(env, object, "expired", self->expired)
             ? object
             : NULL;
}

static napi_value close_socket(napi_env env, napi_callback_info info) {
  napi_value receiver;
  if (!read_arguments(env, info, 0, NULL, &receiver)) return NULL;
  poller *self = poller_of_any(env, receiver, &TAG);
  if (self != NULL) poller_close(self);
  return NULL;
}

bool init_packet(napi_env env, napi_value exports) {
  const napi_property_descriptor methods[] = {
      {.utf8name = "setFilter", .method = set_filter},   {.utf8name = "flush", .method = flush},
      {.utf8name = "drain", .method = drain},            {.utf8name = "discard", .method = discard},
      {.utf8name = "boundIndex", .method = bound_index}, {.utf8name = "statistics", .method = statistics},
      {.utf8name = "close", .method = close_socket},
  };
  return define_class(env, exports, "PacketSocket", construct, methods, sizeof methods / sizeof *methods);
}
