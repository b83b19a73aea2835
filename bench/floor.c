/* The floor: what one thread with epoll costs before it does any work of its own.
 *
 * It parses nothing. Each `*` that arrives counts as one request (each line, when the first byte is
 * not `*`: inline commands) and is answered with "+OK\r\n", or with one bulk string when a size was
 * given. The system calls are those of any one-threaded server: one epoll_wait for all that is
 * ready, then one read and one write for each client. `bench/compare.py --floor` measures it.
 *
 * usage: floor PORT [REPLY_BYTES]
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS_MAX = 1024, IN_BYTES = 1 << 14, REPLY_BYTES_MAX = 1 << 14, OUT_BYTES = 1 << 22 };

static char reply[REPLY_BYTES_MAX + 32] = "+OK\r\n";
static size_t reply_len = 5;
static char in[IN_BYTES], out[OUT_BYTES];

static void make_bulk_reply(size_t size) {
    if (size > REPLY_BYTES_MAX) size = REPLY_BYTES_MAX;
    int head = sprintf(reply, "$%zu\r\n", size);
    memset(reply + head, 'x', size);
    memcpy(reply + head + size, "\r\n", 2);
    reply_len = head + size + 2;
}

static int listen_on(int port) {
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 511)) {
        perror("floor");
        exit(1);
    }
    return fd;
}

static void watch(int epoll, int fd) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static void welcome(int epoll, int listener) {
    int one = 1, fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
    if (fd < 0) return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    watch(epoll, fd);
}

static void serve(int fd) {
    ssize_t got = read(fd, in, sizeof in);
    if (got <= 0) {
        close(fd);
        return;
    }
    size_t len = 0;
    char *at = in, *end = in + got, mark = in[0] == '*' ? '*' : '\n';
    while ((at = memchr(at, mark, end - at)) && len + reply_len <= sizeof out) {
        memcpy(out + len, reply, reply_len);
        len += reply_len;
        at++;
    }
    /* A full socket loses the rest: the bench keeps replies below what a socket buffers. */
    if (len && write(fd, out, len) < 0) close(fd);
}

int main(int argc, char **argv) {
    if (argc < 2) return fprintf(stderr, "usage: floor PORT [REPLY_BYTES]\n"), 1;
    if (argc > 2 && atoi(argv[2]) > 0) make_bulk_reply(atoi(argv[2]));
    int listener = listen_on(atoi(argv[1])), epoll = epoll_create1(0);
    struct epoll_event ready[EVENTS_MAX];
    watch(epoll, listener);
    for (;;) {
        int count = epoll_wait(epoll, ready, EVENTS_MAX, -1);
        for (int i = 0; i < count; i++) {
            if (ready[i].data.fd == listener) welcome(epoll, listener);
            else serve(ready[i].data.fd);
        }
    }
}
