/*
 * Asks for addresses and measures; prints one line of JSON. Source address of every request is 192.0.2.1.
 * usage: client latency    LINK FIRST-ADDRESS ADDRESSES REQUESTS PAUSE-US   one request at a time
 *        client throughput LINK FIRST-ADDRESS ADDRESSES WINDOW SECONDS      WINDOW requests under way
 *        client strangers  LINK FIRST-ADDRESS ADDRESSES PER-SECOND SECONDS  only asks, in small bursts
 */
#include "wire.h"

#include <poll.h>
#include <time.h>

enum { SECOND_NS = 1000000000, ANSWER_TIMEOUT_MS = 200, STALL_NS = 20000000, LEAST_BURST = 8 };

static uint8_t mac[6];

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void pause_us(long microseconds) {
  struct timespec pause = {.tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000};
  nanosleep(&pause, NULL);
}

static void write_request(uint8_t *frame, uint32_t target) {
  static const uint8_t head[] = {0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 1};
  memset(frame, 0xff, ETH_ALEN);
  memcpy(frame + ETH_ALEN, mac, ETH_ALEN);
  memcpy(frame + 12, head, sizeof head);
  memcpy(frame + SENDER_MAC, mac, ETH_ALEN);
  write_address(frame, SENDER_IP, 0xc0000201);
  memset(frame + TARGET_MAC, 0, ETH_ALEN);
  write_address(frame, TARGET_IP, target);
}

static int open_client(const char *link, int type) {
  static struct sock_filter replies[] = {BPF_STMT(BPF_LD | BPF_H | BPF_ABS, OPERATION),
                                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 2, 0, 1),
                                         BPF_STMT(BPF_RET | BPF_K, 0xffff), BPF_STMT(BPF_RET | BPF_K, 0)};
  return open_arp(link, type, (struct sock_fprog){.len = 4, .filter = replies}, mac);
}

static int compare(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a;
  const uint64_t y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Nanoseconds until the reply for `target`; 0 when none came in time. */
static uint64_t ask(int fd, uint32_t target) {
  uint8_t frame[SLOT];
  struct pollfd readable = {.fd = fd, .events = POLLIN};
  while (recv(fd, frame, sizeof frame, MSG_DONTWAIT) > 0) continue;
  write_request(frame, target);
  const uint64_t start = now_ns();
  if (send(fd, frame, FRAME_BYTES, 0) < 0) die("send");
  for (;;) {
    const int64_t left = ANSWER_TIMEOUT_MS - (int64_t)((now_ns() - start) / 1000000);
    if (left <= 0 || poll(&readable, 1, (int)left) == 0) return 0;
    const ssize_t length = recv(fd, frame, sizeof frame, MSG_DONTWAIT);
    if (length >= FRAME_BYTES && read_address(frame, SENDER_IP) == target) return now_ns() - start;
  }
}

static void latency(int fd, uint32_t first, uint32_t addresses, uint32_t requests, long pause) {
  uint64_t *times = calloc(requests, sizeof *times);
  uint32_t answered = 0;
  if (times == NULL) die("calloc");
  for (uint32_t i = 0; i < requests; i++) {
    const uint64_t time = ask(fd, first + i % addresses);
    if (time > 0) times[answered++] = time;
    if (pause > 0) pause_us(pause);
  }
  qsort(times, answered, sizeof *times, compare);
  const double p50 = answered == 0 ? 0 : (double)times[answered / 2] / 1e3;
  const double p99 = answered == 0 ? 0 : (double)times[(uint64_t)answered * 99 / 100] / 1e3;
  printf("{\"requests\":%u,\"lost\":%u,\"p50Us\":%.1f,\"p99Us\":%.1f}\n", requests, requests - answered, p50, p99);
  free(times);
}

static void throughput(int fd, uint32_t first, uint32_t addresses, uint32_t window, double seconds) {
  static struct batch rx, tx;
  uint64_t sent = 0, answered = 0, lost = 0;
  struct pollfd readable = {.fd = fd, .events = POLLIN};
  prepare(&rx, SLOT);
  prepare(&tx, FRAME_BYTES);
  const uint64_t start = now_ns();
  const uint64_t end = start + (uint64_t)(seconds * SECOND_NS);
  for (uint64_t heard = start; now_ns() < end;) {
    uint64_t room = window - (sent - answered - lost);
    if (room > BATCH) room = BATCH;
    for (uint32_t i = 0; i < room; i++) write_request(tx.frames[i], first + (uint32_t)(sent + i) % addresses);
    const int asked = room > 0 ? sendmmsg(fd, tx.headers, (unsigned)room, MSG_DONTWAIT) : 0;
    if (asked > 0) sent += (uint64_t)asked;
    const int received = recvmmsg(fd, rx.headers, BATCH, MSG_DONTWAIT, NULL);
    if (received > 0) {
      answered += (uint64_t)received;
      heard = now_ns();
    } else {
      poll(&readable, 1, 5);
      /* An answer that took this long to come is lost: its place in the window is free again. */
      if (now_ns() - heard > STALL_NS) lost = sent - answered;
    }
  }
  const double elapsed = (double)(now_ns() - start) / SECOND_NS;
  printf("{\"sent\":%llu,\"lost\":%llu,\"perSecond\":%.0f}\n", (unsigned long long)sent, (unsigned long long)lost,
         (double)answered / elapsed);
}

static void strangers(int fd, uint32_t first, uint32_t addresses, double per_second, double seconds) {
  static struct batch tx;
  uint64_t sent = 0;
  prepare(&tx, FRAME_BYTES);
  const uint64_t start = now_ns();
  for (;;) {
    const double elapsed = (double)(now_ns() - start) / SECOND_NS;
    if (elapsed >= seconds) break;
    const uint64_t due = (uint64_t)(elapsed * per_second);
    uint64_t burst = due > sent ? due - sent : 0;
    if (burst < LEAST_BURST) {
      pause_us(100);
      continue;
    }
    if (burst > BATCH) burst = BATCH;
    for (uint32_t i = 0; i < burst; i++) write_request(tx.frames[i], first + (uint32_t)(sent + i) % addresses);
    const int asked = sendmmsg(fd, tx.headers, (unsigned)burst, 0);
    if (asked > 0) sent += (uint64_t)asked;
  }
  printf("{\"sent\":%llu,\"perSecond\":%.0f}\n", (unsigned long long)sent, (double)sent / seconds);
}

int main(int count, char **arguments) {
  if (count != 7) {
    fprintf(stderr, "usage: client latency|throughput|strangers LINK FIRST-ADDRESS ADDRESSES NUMBER NUMBER\n");
    return 2;
  }
  const char *mode = arguments[1];
  const int fd = open_client(arguments[2], 0);
  const uint32_t first = address_of(arguments[3]);
  const uint32_t addresses = (uint32_t)atoi(arguments[4]);
  const double amount = atof(arguments[5]);
  const double last = atof(arguments[6]);
  if (strcmp(mode, "latency") == 0) latency(fd, first, addresses, (uint32_t)amount, (long)last);
  else if (strcmp(mode, "throughput") == 0) throughput(fd, first, addresses, (uint32_t)amount, last);
  else strangers(fd, first, addresses, amount, last);
  return 0;
}
