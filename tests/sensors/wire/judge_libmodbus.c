/* libmodbus as a judge of RTU frames: reads, from standard input, a byte count and so many bytes of a whole answer;
 * writes one byte for each: 1 if libmodbus takes them for a frame with a right check sum, 0 if not.
 */
#include <modbus.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void) {
    unsigned char size, frame[256], confirmation[MODBUS_RTU_MAX_ADU_LENGTH];
    int ends[2];
    modbus_t *context = modbus_new_rtu("/dev/null", 9600, 'N', 8, 1);

    if (context == NULL || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || modbus_set_socket(context, ends[0]) != 0)
        return 1;
    modbus_set_response_timeout(context, 0, 2000);
    modbus_set_byte_timeout(context, 0, 2000);
    while (fread(&size, 1, 1, stdin) == 1 && fread(frame, 1, size, stdin) == size) {
        if (frame[0] <= 247)
            modbus_set_slave(context, frame[0]); /* libmodbus ignores what comes from a unit it did not ask */
        if (write(ends[1], frame, size) != size)
            return 1;
        int length = modbus_receive_confirmation(context, confirmation);
        modbus_flush(context);
        while (recv(ends[0], confirmation, sizeof confirmation, MSG_DONTWAIT) > 0) {
        }
        putchar(length == size);
        fflush(stdout);
    }
    modbus_free(context);
    return 0;
}
