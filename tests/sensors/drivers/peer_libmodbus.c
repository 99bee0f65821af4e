/* A Modbus server made of libmodbus: the peer that is not ours and not pymodbus.
 *
 * Takes one connection after another on loopback and prints its port; with the argument "rtu" it is unit 1 of a
 * serial line instead, and prints the name of the pseudo-terminal to open. Ends when its standard input does.
 * Holding register n and input register n hold 100 + n and 200 + n; ten coils, all off.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <modbus.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

enum { REGISTERS = 64, COILS = 10 };

static void fill(modbus_mapping_t *map) {
    for (int index = 0; index < REGISTERS; index++) {
        map->tab_registers[index] = 100 + index;
        map->tab_input_registers[index] = 200 + index;
    }
}

/* Serve at the far end of a pseudo-terminal. The near end is held open too, so that nobody's leaving ends it. */
static int serve_rtu(modbus_mapping_t *map) {
    uint8_t query[MODBUS_RTU_MAX_ADU_LENGTH];
    struct termios raw;
    int far = posix_openpt(O_RDWR | O_NOCTTY);
    if (far < 0 || grantpt(far) != 0 || unlockpt(far) != 0 || open(ptsname(far), O_RDWR | O_NOCTTY) < 0)
        return 1;
    tcgetattr(far, &raw);
    cfmakeraw(&raw);
    tcsetattr(far, TCSANOW, &raw);
    modbus_t *context = modbus_new_rtu(ptsname(far), 115200, 'N', 8, 1);
    if (context == NULL || modbus_set_slave(context, 1) != 0 || modbus_set_socket(context, far) != 0)
        return 1;
    printf("%s\n", ptsname(far));
    fflush(stdout);
    for (;;) {
        struct pollfd watched[2] = {{STDIN_FILENO, POLLIN, 0}, {far, POLLIN, 0}};
        if (poll(watched, 2, -1) < 0 || watched[0].revents)
            break;
        int length = modbus_receive(context, query);
        if (length > 0)
            modbus_reply(context, query, length, map);
    }
    modbus_free(context);
    return 0;
}

int main(int count, char **arguments) {
    uint8_t query[MODBUS_TCP_MAX_ADU_LENGTH];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    modbus_t *context = modbus_new_tcp("127.0.0.1", 0);
    modbus_mapping_t *map = modbus_mapping_new(COILS, 0, REGISTERS, REGISTERS);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    if (map == NULL)
        return 1;
    fill(map);
    if (count > 1 && strcmp(arguments[1], "rtu") == 0)
        return serve_rtu(map);
    if (context == NULL || bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 1) != 0)
        return 1;
    getsockname(listener, (struct sockaddr *)&address, &size);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);

    int client = -1;
    for (;;) {
        struct pollfd watched[2] = {{STDIN_FILENO, POLLIN, 0}, {client >= 0 ? client : listener, POLLIN, 0}};
        if (poll(watched, 2, -1) < 0 || watched[0].revents)
            break;
        if (client < 0) {
            client = accept(listener, NULL, NULL);
            modbus_set_socket(context, client);
            continue;
        }
        int length = modbus_receive(context, query);
        if (length > 0) {
            modbus_reply(context, query, length, map);
        } else if (length < 0) {
            close(client);
            client = -1;
        }
    }
    modbus_mapping_free(map);
    modbus_free(context);
    return 0;
}
