// Preloaded into a program, it makes that program answer requests: for each it forks a copy that goes on to `main` with the
// request's arguments. So hundreds of libraries are linked and initialised once, and not for each small file that a test shows to
// ffprobe; that takes a tenth of a second each time.
//
// The standard input is a stream socket. The program writes one byte when it is ready. A request is a length (4 bytes, native
// order) and so many bytes: strings that each end with a zero byte, namely the most seconds to run, the files for the standard
// output and the errors, and the arguments, beginning with the program's name. The answer is the exit code (4 bytes), or 128 plus
// the signal that ended the copy. The end of the input ends the program.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int main_function(int, char **, char **);

static main_function *program_main;

static int read_all(void *bytes, size_t count) {
  for (size_t done = 0; done < count;) {
    ssize_t now = read(STDIN_FILENO, (char *)bytes + done, count - done);
    if (now <= 0) return 0;
    done += (size_t)now;
  }
  return 1;
}

static void redirect(const char *path, int flags, int descriptor) {
  int file = open(path, flags, 0600);
  if (file < 0 || dup2(file, descriptor) < 0) _exit(126);
  if (file != descriptor) close(file);
}

static int serve(int argc, char **argv, char **environment) {
  (void)argc;
  (void)argv;
  unsetenv("LD_PRELOAD");
  if (write(STDIN_FILENO, "R", 1) != 1) _exit(1);
  for (;;) {
    uint32_t length;
    if (!read_all(&length, sizeof length) || length == 0 || length > 1 << 20) _exit(0);
    char *strings = malloc(length);
    char **arguments = calloc(length + 1, sizeof *arguments);
    if (!strings || !arguments || !read_all(strings, length) || strings[length - 1] != 0) _exit(1);
    int count = 0;
    for (char *string = strings; string < strings + length; string += strlen(string) + 1) arguments[count++] = string;
    if (count < 4) _exit(1);

    pid_t copy = fork();
    if (copy < 0) _exit(1);
    if (copy == 0) {
      alarm((unsigned)atoi(arguments[0]));
      redirect("/dev/null", O_RDONLY, STDIN_FILENO);
      redirect(arguments[1], O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
      redirect(arguments[2], O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
      return program_main(count - 3, arguments + 3, environment);
    }
    free(arguments);
    free(strings);
    int status;
    if (waitpid(copy, &status, 0) != copy) _exit(1);
    int32_t code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (write(STDIN_FILENO, &code, sizeof code) != sizeof code) _exit(0);
  }
}

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*linker_fini)(void), void *stack_end) {
  int (*start)(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *) =
      dlsym(RTLD_NEXT, "__libc_start_main");
  program_main = main;
  return start(serve, argc, argv, init, fini, linker_fini, stack_end);
}
