#define _GNU_SOURCE
#include "CMediaProgram.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The descriptor of a child's socket. */
#define OWN_SOCKET 3

/* The user and group without rights, if the program runs as root. */
#define NOBODY 65534

/* What a terminal and a service manager send to all processes of the program. */
static const int ending_signals[] = {SIGHUP, SIGINT, SIGTERM};

static void write_text(const char *path, const char *text, size_t count) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t written = write(file, text, count);
  (void)written;
  close(file);
}

/* Replaces the file system by an empty one that cannot be written. */
static int empty_file_system(void) {
  return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
         mount("none", "/proc", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, "size=4k") == 0 &&
         chdir("/proc") == 0 && syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0 &&
         chdir("/") == 0;
}

int cmediaprogram_isolate(void) {
  int steps = 0;
  clearenv();
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  write_text("/proc/self/oom_score_adj", "1000", 4);
  int spaces = CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC;
  if (unshare(spaces) == 0 || unshare(CLONE_NEWUSER | spaces) == 0) {
    steps |= 1;
    if (empty_file_system()) steps |= 2;
  }
  return steps;
}

int cmediaprogram_threads(void) {
  DIR *directory = opendir("/proc/self/task");
  if (directory == NULL) return -1;
  int count = 0;
  struct dirent *entry;
  while ((entry = readdir(directory)) != NULL) {
    if (entry->d_name[0] != '.') count++;
  }
  closedir(directory);
  return count;
}

pid_t cmediaprogram_fork(void) {
  pid_t child = fork();
  return child < 0 ? -errno : child;
}

void cmediaprogram_outlive_signals(void) {
  for (size_t i = 0; i < sizeof ending_signals / sizeof ending_signals[0]; i++) signal(ending_signals[i], SIG_IGN);
}

int cmediaprogram_end(pid_t child) {
  if (child <= 1) return 256;
  kill(child, SIGKILL);
  return cmediaprogram_wait(child);
}

int cmediaprogram_wait(pid_t child) {
  int status = 0;
  pid_t found;
  do {
    found = waitpid(child, &status, 0);
  } while (found < 0 && errno == EINTR);
  if (found != child) return 256;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : 256;
}

void *cmediaprogram_map(int descriptor, size_t size) {
  void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return start == MAP_FAILED ? NULL : start;
}

/* ---- The filter of system calls ---- */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "chatbot-media has no list of system calls for this processor"
#endif

#define FIELD(name) (offsetof(struct seccomp_data, name))
/* The lower half of an argument; both processors are little-endian. */
#define ARGUMENT(n) (offsetof(struct seccomp_data, args) + (n) * sizeof(uint64_t))

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define REFUSE(error) (SECCOMP_RET_ERRNO | (error))
/* Goes on with the next `count` instructions if the loaded number is `value`, and behind them otherwise. */
#define IF(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, (count))
/* The same, if the loaded number has any of these bits. */
#define IF_ANY(bits, count) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (uint32_t)(bits), 0, (count))

#define ALLOW(number) IF(number, 1), RETURN(SECCOMP_RET_ALLOW)
#define FAIL(number, error) IF(number, 1), RETURN(REFUSE(error))
/* No executable memory: argument 2 is the protection of mmap and of mprotect. */
#define ALLOW_UNLESS_EXECUTABLE(number)                                                              \
  IF(number, 4), LOAD(ARGUMENT(2)), IF_ANY(PROT_EXEC, 1), RETURN(SECCOMP_RET_KILL_PROCESS),          \
      RETURN(SECCOMP_RET_ALLOW)
/* Private memory only, and no stacks, because only that is limited by RLIMIT_DATA. */
#define ALLOW_PRIVATE_MAPPING(number)                                                                \
  IF(number, 7), LOAD(ARGUMENT(2)), IF_ANY(PROT_EXEC, 1), RETURN(SECCOMP_RET_KILL_PROCESS),          \
      LOAD(ARGUMENT(3)), IF_ANY(MAP_SHARED | MAP_GROWSDOWN, 1), RETURN(SECCOMP_RET_KILL_PROCESS),    \
      RETURN(SECCOMP_RET_ALLOW)
/* Signals to this process only, as abort(3) sends them. */
#define ALLOW_SIGNAL_TO(number, process)                                                             \
  IF(number, 4), LOAD(ARGUMENT(0)), IF(process, 1), RETURN(SECCOMP_RET_ALLOW),                       \
      RETURN(SECCOMP_RET_KILL_PROCESS)

/* What pthread_create(3) asks for, and nothing else: no processes and no namespaces. */
#define THREAD                                                                                       \
  (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD | CLONE_SETTLS | \
   CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

/* No system call has this number: of those that only some processes have. */
#define NO_CALL UINT32_MAX
#define CALL_IF(condition, number) ((condition) ? (uint32_t)(number) : NO_CALL)

static int admit_calls(struct cmediaprogram_limits limits) {
  struct sock_filter instructions[] = {
      LOAD(FIELD(arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
      RETURN(SECCOMP_RET_KILL_PROCESS),
      LOAD(FIELD(nr)),

      /* Its own descriptors: the socket, and files that were passed. */
      ALLOW(SYS_recvmsg),
      ALLOW(SYS_sendmsg),
      ALLOW(SYS_read),
      ALLOW(SYS_pread64),
      ALLOW(SYS_readv),
      ALLOW(SYS_write),
      ALLOW(SYS_writev),
      ALLOW(SYS_lseek),
      ALLOW(SYS_fstat),
      ALLOW(SYS_close),

      /* Memory. */
      ALLOW(SYS_brk),
      ALLOW(SYS_munmap),
      ALLOW(SYS_mremap),
      ALLOW(SYS_madvise),
      ALLOW_UNLESS_EXECUTABLE(SYS_mprotect),
      ALLOW_PRIVATE_MAPPING(SYS_mmap),

      /* Time, locks, random numbers, the end. */
      ALLOW(SYS_futex),
      ALLOW(SYS_clock_gettime),
      ALLOW(SYS_gettimeofday),
      ALLOW(SYS_clock_getres),
      ALLOW(SYS_sched_yield),
      ALLOW(SYS_getrandom),
      ALLOW(SYS_sysinfo),
      ALLOW(SYS_getpid),
      ALLOW(SYS_gettid),
      ALLOW(SYS_rt_sigreturn),
      ALLOW(SYS_rt_sigprocmask),
      ALLOW(SYS_exit),
      ALLOW(SYS_exit_group),

      /* A file that it writes; a full disk is waited for. */
      ALLOW(CALL_IF(limits.writes, SYS_pwrite64)),
      ALLOW(CALL_IF(limits.writes || limits.has_threads, SYS_clock_nanosleep)),
      ALLOW(CALL_IF(limits.writes || limits.has_threads, SYS_nanosleep)),

      /* Threads. The arguments of clone3 cannot be looked at; without it clone is used. */
      FAIL(CALL_IF(limits.has_threads, SYS_clone3), ENOSYS),
      IF(CALL_IF(limits.has_threads, SYS_clone), 4), LOAD(ARGUMENT(0)), IF(THREAD, 1), RETURN(SECCOMP_RET_ALLOW),
      RETURN(SECCOMP_RET_KILL_PROCESS),
      ALLOW(CALL_IF(limits.has_threads, SYS_set_robust_list)),
      FAIL(CALL_IF(limits.has_threads, SYS_rt_sigaction), EPERM),
      ALLOW(CALL_IF(limits.has_threads, SYS_rseq)),

      /* What libraries do without need: it fails, and they go on. */
#ifdef SYS_open
      FAIL(SYS_open, EACCES),
      FAIL(SYS_access, EACCES),
      FAIL(SYS_stat, EACCES),
      FAIL(SYS_lstat, EACCES),
      FAIL(SYS_readlink, EACCES),
#endif
      FAIL(SYS_openat, EACCES),
      FAIL(SYS_faccessat, EACCES),
      FAIL(SYS_readlinkat, EACCES),
      FAIL(SYS_newfstatat, EACCES),
      FAIL(SYS_statx, EACCES),
      FAIL(SYS_ioctl, ENOTTY),
      FAIL(SYS_prctl, EPERM),
      FAIL(SYS_sched_getaffinity, EPERM),
      FAIL(SYS_sched_setaffinity, EPERM),
      FAIL(SYS_prlimit64, EPERM),

      ALLOW_SIGNAL_TO(SYS_tgkill, getpid()),
      RETURN(SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = {.len = sizeof instructions / sizeof instructions[0], .filter = instructions};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ? 0 : errno;
}

static int limit(int resource, uint64_t value) {
  struct rlimit both = {value, value};
  struct rlimit now;
  if (getrlimit(resource, &now) == 0 && now.rlim_max < value) both.rlim_cur = both.rlim_max = now.rlim_max;
  return setrlimit(resource, &both) == 0 ? 0 : errno;
}

static void close_all_above(int last) {
  if (close_range((unsigned)last + 1, ~0U, 0) == 0) return;
  /* Some containers refuse it. */
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > 65536) limit.rlim_cur = 65536;
  for (int descriptor = last + 1; descriptor < (int)limit.rlim_cur; descriptor++) close(descriptor);
}

/* Swift's handlers, which print where a program crashed, need more than a sandbox has. */
static void use_default_signals(void) {
  for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
  /* The program decides when a worker ends: it may still have frames to decode after such a signal. */
  cmediaprogram_outlive_signals();
}

int cmediaprogram_confine(int descriptor, pid_t parent, struct cmediaprogram_limits limits) {
  if (descriptor != OWN_SOCKET && dup2(descriptor, OWN_SOCKET) < 0) return errno;
  close_all_above(OWN_SOCKET);

  if (geteuid() == 0) {
    /* In a user namespace of its own this is not possible, and not needed. */
    if (setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0) {
      if (setresuid(NOBODY, NOBODY, NOBODY) != 0) return errno;
    }
  }
  use_default_signals();
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct nothing[2] = {{0}};
  if (syscall(SYS_capset, &header, nothing) != 0) return errno;

  /* After the change of the user, which clears it. */
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return errno;
  if (getppid() != parent) return ESRCH;

  int error = limit(RLIMIT_DATA, limits.memory);
  if (error == 0) error = limit(RLIMIT_NOFILE, limits.descriptors);
  if (error == 0) error = limit(RLIMIT_CORE, 0);
  if (error == 0) error = limit(RLIMIT_FSIZE, limits.file);
  if (error != 0) return error;

  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  return admit_calls(limits);
}
