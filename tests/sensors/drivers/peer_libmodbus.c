/* A Modbus TCP server made of libmodbus: the peer that is not ours and not pymodbus.
 *
 * Takes one connection after another on loopback, prints its port, ends when its standard input does.
 * Holding register n and input register n hold 100 + n and 200 + n; ten coils, all off.
 */
#include <errno.h>
#include <modbus.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REGISTERS = 64, COILS = 10 };

int main(void) {
    uint8_t query[MODBUS_TCP_MAX_ADU_LENGTH];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    modbus_t *context = modbus_new_tcp("127.0.0.1", 0);
    modbus_mapping_t *map = modbus_mapping_new(COILS, 0, REGISTERS, REGISTERS);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    if (context == NULL || map == NULL || bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, 1) != 0)
        return 1;
    getsockname(listener, (struct sockaddr *)&address, &size);
    for (int index = 0; index < REGISTERS; index++) {
        map->tab_registers[index] = 100 + index;
        map->tab_input_registers[index] = 200 + index;
    }
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
