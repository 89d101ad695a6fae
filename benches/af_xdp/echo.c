/* An echo of UDP datagrams by AF_XDP and by a socket, and a client for both; run.sh compares them.

   echo xdp INTERFACE SECONDS      serves the first queue of the interface by AF_XDP, in copy mode
   echo socket BATCH SECONDS       serves port 9000 by recvmmsg and sendmmsg of up to BATCH datagrams
   echo load ADDRESS SECONDS IN_FLIGHT LENGTH */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <xdp/xsk.h>

enum { PORT = 9000, BATCH_MAX = 64, FRAME = 4096, FRAMES = 2048, LENGTH_MAX = 1500 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static double seconds(struct timeval time) { return time.tv_sec + time.tv_usec * 1e-6; }

static void check(int failed, const char *what) {
    if (failed) {
        perror(what);
        exit(1);
    }
}

/* Prints the rate and the CPU time of this process. */
static void report(const char *name, long datagrams, double time) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double busy = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    printf("%s: %.0f datagrams/s, %.2f us each\n", name, datagrams / time, busy / datagrams * 1e6);
}

static void swap(void *first, void *second, size_t length) {
    unsigned char kept[8];
    memcpy(kept, first, length);
    memcpy(first, second, length);
    memcpy(second, kept, length);
}

/* Turns a received frame into its reply, which has no checksum, because the sender left its own to the network card. */
static void answer(unsigned char *frame) {
    struct ethhdr *ethernet = (void *)frame;
    struct iphdr *ip = (void *)(ethernet + 1);
    struct udphdr *udp = (void *)(ip + 1);
    swap(ethernet->h_dest, ethernet->h_source, sizeof ethernet->h_dest);
    swap(&ip->saddr, &ip->daddr, sizeof ip->saddr);
    swap(&udp->source, &udp->dest, sizeof udp->source);
    udp->check = 0;
}

static void serve_xdp(const char *interface, double time) {
    unsigned char *memory = mmap(NULL, FRAMES * FRAME, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(memory == MAP_FAILED, "mmap");
    struct xsk_ring_prod fill, send;
    struct xsk_ring_cons sent, received;
    struct xsk_umem *umem;
    struct xsk_umem_config rings = {.fill_size = FRAMES, .comp_size = FRAMES, .frame_size = FRAME};
    check(xsk_umem__create(&umem, memory, FRAMES * FRAME, &fill, &sent, &rings), "xsk_umem__create");
    struct xsk_socket *socket;
    struct xsk_socket_config config = {.rx_size = FRAMES, .tx_size = FRAMES, .bind_flags = XDP_USE_NEED_WAKEUP | XDP_COPY};
    check(xsk_socket__create(&socket, interface, 0, umem, &received, &send, &config), "xsk_socket__create");

    unsigned at = 0;
    xsk_ring_prod__reserve(&fill, FRAMES, &at);
    for (unsigned frame = 0; frame < FRAMES; frame++) *xsk_ring_prod__fill_addr(&fill, at + frame) = frame * FRAME;
    xsk_ring_prod__submit(&fill, FRAMES);

    struct pollfd ready = {.fd = xsk_socket__fd(socket), .events = POLLIN};
    long datagrams = 0;
    double began = now(), end = began + time;
    while (now() < end) {
        poll(&ready, 1, 100);
        unsigned count = xsk_ring_cons__peek(&received, BATCH_MAX, &at), to = 0;
        if (count == 0) continue;
        if (datagrams == 0) began = now(), end = began + time;
        while (xsk_ring_prod__reserve(&send, count, &to) < count) {}
        for (unsigned index = 0; index < count; index++) {
            struct xdp_desc frame = *xsk_ring_cons__rx_desc(&received, at + index);
            answer(xsk_umem__get_data(memory, frame.addr));
            *xsk_ring_prod__tx_desc(&send, to + index) = frame;
        }
        xsk_ring_cons__release(&received, count);
        xsk_ring_prod__submit(&send, count);
        sendto(ready.fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
        datagrams += count;

        count = xsk_ring_cons__peek(&sent, BATCH_MAX, &at);
        if (count == 0) continue;
        while (xsk_ring_prod__reserve(&fill, count, &to) < count) {}
        for (unsigned index = 0; index < count; index++)
            *xsk_ring_prod__fill_addr(&fill, to + index) = *xsk_ring_cons__comp_addr(&sent, at + index) & ~(FRAME - 1UL);
        xsk_ring_prod__submit(&fill, count);
        xsk_ring_cons__release(&sent, count);
    }
    report("AF_XDP", datagrams, now() - began);
    xsk_socket__delete(socket);
}

static struct {
    struct mmsghdr messages[BATCH_MAX];
    struct iovec parts[BATCH_MAX];
    struct sockaddr_in peers[BATCH_MAX];
    char bodies[BATCH_MAX][LENGTH_MAX];
} batch;

/* Points the messages of the batch to bodies of this length and, if the socket is not connected, to a peer. */
static void prepare(size_t length, int with_peers) {
    for (int index = 0; index < BATCH_MAX; index++) {
        batch.parts[index] = (struct iovec){batch.bodies[index], length};
        batch.messages[index].msg_hdr = (struct msghdr){.msg_iov = &batch.parts[index], .msg_iovlen = 1};
        if (!with_peers) continue;
        batch.messages[index].msg_hdr.msg_name = &batch.peers[index];
        batch.messages[index].msg_hdr.msg_namelen = sizeof batch.peers[index];
    }
}

static int open_socket(int milliseconds) {
    int socket_fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct timeval patience = {0, milliseconds * 1000};
    check(socket_fd < 0 || setsockopt(socket_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), "socket");
    return socket_fd;
}

static void serve_socket(int batch_max, double time) {
    int fd = open_socket(100);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    check(bind(fd, (void *)&address, sizeof address), "bind");
    long datagrams = 0;
    double began = now(), end = began + time;
    while (now() < end) {
        prepare(LENGTH_MAX, 1);
        int count = recvmmsg(fd, batch.messages, batch_max, MSG_WAITFORONE, NULL);
        if (count <= 0) continue;
        if (datagrams == 0) began = now(), end = began + time;
        for (int index = 0; index < count; index++) batch.parts[index].iov_len = batch.messages[index].msg_len;
        check(sendmmsg(fd, batch.messages, count, 0) < count, "sendmmsg");
        datagrams += count;
    }
    report(batch_max == 1 ? "socket, one at a time" : "socket, in batches", datagrams, now() - began);
}

static void load(const char *to, double time, int in_flight, size_t length) {
    int fd = open_socket(20);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    inet_pton(AF_INET, to, &address.sin_addr);
    check(connect(fd, (void *)&address, sizeof address), "connect");
    long answers = 0, lost = 0;
    double end = now() + time;
    int missing = in_flight;
    while (now() < end) {
        prepare(length, 0);
        check(sendmmsg(fd, batch.messages, missing, 0) < missing, "sendmmsg");
        prepare(LENGTH_MAX, 0);
        int count = recvmmsg(fd, batch.messages, in_flight, MSG_WAITFORONE, NULL);
        missing = count > 0 ? count : in_flight;
        if (count > 0) answers += count;
        else lost += in_flight;
    }
    printf("client: %.0f answers/s, %ld lost\n", answers / time, lost);
}

int main(int count, char **arguments) {
    if (count == 4 && !strcmp(arguments[1], "xdp")) serve_xdp(arguments[2], atof(arguments[3]));
    else if (count == 4 && !strcmp(arguments[1], "socket")) serve_socket(atoi(arguments[2]), atof(arguments[3]));
    else if (count == 6 && !strcmp(arguments[1], "load"))
        load(arguments[2], atof(arguments[3]), atoi(arguments[4]), strtoul(arguments[5], NULL, 10));
    else return fputs("echo xdp INTERFACE SECONDS | socket BATCH SECONDS | load ADDRESS SECONDS IN_FLIGHT LENGTH\n", stderr), 2;
}
