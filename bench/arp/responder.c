/*
 * The peer that the speaker is measured against: it answers ARP requests for a row of addresses in C, with epoll and the
 * same kind of socket, in batches.
 * usage: responder LINK FIRST-ADDRESS ADDRESSES [unfiltered]
 */
#include "wire.h"

#include <sys/epoll.h>

static uint8_t mac[6];

/* Passes requests whose target is one of the row. */
static struct sock_fprog filter_for(uint32_t first, uint32_t last) {
  static struct sock_filter code[7];
  const struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_H | BPF_ABS, OPERATION), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, TARGET_IP), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 2),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last, 1, 0), BPF_STMT(BPF_RET | BPF_K, 0xffff),
      BPF_STMT(BPF_RET | BPF_K, 0)};
  memcpy(code, program, sizeof code);
  return (struct sock_fprog){.len = 7, .filter = code};
}

static size_t answer(const uint8_t *request, uint8_t *reply) {
  memcpy(reply, request + ETH_ALEN, ETH_ALEN);
  memcpy(reply + ETH_ALEN, mac, ETH_ALEN);
  memcpy(reply + 12, request + 12, 8);
  reply[OPERATION] = 0;
  reply[OPERATION + 1] = 2;
  memcpy(reply + SENDER_MAC, mac, ETH_ALEN);
  memcpy(reply + SENDER_IP, request + TARGET_IP, 4);
  memcpy(reply + TARGET_MAC, request + SENDER_MAC, 10);
  return FRAME_BYTES;
}

int main(int count, char **arguments) {
  static struct batch rx, tx;
  if (count < 4) {
    fprintf(stderr, "usage: responder LINK FIRST-ADDRESS ADDRESSES [unfiltered]\n");
    return 2;
  }
  const uint32_t first = address_of(arguments[2]);
  const uint32_t last = first + (uint32_t)atoi(arguments[3]) - 1;
  struct sock_fprog program = count > 4 ? (struct sock_fprog){0} : filter_for(first, last);
  const int fd = open_arp(arguments[1], SOCK_NONBLOCK, program, mac);
  const int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) die("epoll");
  prepare(&rx, SLOT);
  prepare(&tx, FRAME_BYTES);
  for (;;) {
    if (epoll_wait(epoll, &event, 1, -1) < 0 && errno != EINTR) die("epoll_wait");
    for (;;) {
      const int received = recvmmsg(fd, rx.headers, BATCH, MSG_DONTWAIT, NULL);
      if (received <= 0) break;
      unsigned answers = 0;
      for (int i = 0; i < received; i++) {
        const uint8_t *frame = rx.frames[i];
        if (rx.headers[i].msg_len < FRAME_BYTES || frame[OPERATION + 1] != 1) continue;
        const uint32_t target = read_address(frame, TARGET_IP);
        if (target < first || target > last) continue;
        tx.slots[answers].iov_len = answer(frame, tx.frames[answers]);
        answers++;
      }
      for (unsigned sent = 0; sent < answers;) {
        const int done = sendmmsg(fd, tx.headers + sent, answers - sent, MSG_DONTWAIT);
        if (done <= 0) break;
        sent += (unsigned)done;
      }
      if (received < BATCH) break;
    }
  }
}
