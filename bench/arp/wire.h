/* What client.c and responder.c share: an ARP socket on one link, and the layout of a request. */
#ifndef ARPEGGIO_BENCH_WIRE_H
#define ARPEGGIO_BENCH_WIRE_H

#define _GNU_SOURCE

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
  BATCH = 64,
  SLOT = 192,
  FRAME_BYTES = 42,
  /* Offsets in a frame: RFC 826 behind 14 bytes of Ethernet. */
  OPERATION = 20,
  SENDER_MAC = 22,
  SENDER_IP = 28,
  TARGET_MAC = 32,
  TARGET_IP = 38
};

static inline void die(const char *call) {
  perror(call);
  exit(1);
}

/* Opens a socket for ARP on `link`, with a filter if `program` has instructions, and reads the link's MAC. */
static inline int open_arp(const char *link, int type, struct sock_fprog program, uint8_t mac[6]) {
  const int on = 1;
  const int bytes = 1 << 20;
  struct ifreq request = {0};
  int fd = socket(AF_PACKET, SOCK_RAW | type, 0);
  if (fd < 0) die("socket");
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", link);
  if (ioctl(fd, SIOCGIFHWADDR, &request) != 0) die(link);
  memcpy(mac, request.ifr_hwaddr.sa_data, 6);
  if (program.len > 0 && setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0)
    die("SO_ATTACH_FILTER");
  if (setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) != 0) die("PACKET_IGNORE_OUTGOING");
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) != 0) die("SO_RCVBUF");
  struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ARP)};
  address.sll_ifindex = (int)if_nametoindex(link);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) die("bind");
  return fd;
}

/* An address as a number, so that the next one is one more. */
static inline uint32_t address_of(const char *text) {
  struct in_addr address;
  if (inet_pton(AF_INET, text, &address) != 1) {
    fprintf(stderr, "no address: %s\n", text);
    exit(2);
  }
  return ntohl(address.s_addr);
}

static inline uint32_t read_address(const uint8_t *frame, int offset) {
  uint32_t address;
  memcpy(&address, frame + offset, sizeof address);
  return ntohl(address);
}

static inline void write_address(uint8_t *frame, int offset, uint32_t address) {
  address = htonl(address);
  memcpy(frame + offset, &address, sizeof address);
}

/* BATCH slots that recvmmsg or sendmmsg fills. */
struct batch {
  struct mmsghdr headers[BATCH];
  struct iovec slots[BATCH];
  uint8_t frames[BATCH][SLOT];
};

static inline void prepare(struct batch *batch, size_t slot_bytes) {
  memset(batch, 0, sizeof *batch);
  for (int i = 0; i < BATCH; i++) {
    batch->slots[i] = (struct iovec){.iov_base = batch->frames[i], .iov_len = slot_bytes};
    batch->headers[i].msg_hdr = (struct msghdr){.msg_iov = &batch->slots[i], .msg_iovlen = 1};
  }
}

#endif
