internal import Glibc
internal import Media
internal import Synchronization

/// Reads single keys from the terminal of standard input while the program is in its foreground.
///
/// For that the terminal passes on each key at once and does not show it. ``restore()`` undoes that.
package enum TerminalKeys {
  /// The address of what the terminal was set to; 0 while it is as it was.
  private static let former = Atomic<UInt>(0)
  private static let hasEnded = Atomic<Bool>(false)
  /// How often it is checked whether the program is in the foreground, in milliseconds.
  private static let interval: Int32 = 250

  /// Calls a function with each key, a byte of the range of ASCII, on a thread. Does nothing if standard input is no terminal.
  package static func onPress(_ body: @escaping @Sendable (UInt8) -> Void) {
    guard isatty(STDIN_FILENO) == 1 else { return }
    hasEnded.store(false, ordering: .sequentiallyConsistent)
    DedicatedThread.start("terminal keys") {
      // In the background, reading and setting fail then instead of stopping the program.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGTTIN)
      sigaddset(&signals, SIGTTOU)
      pthread_sigmask(SIG_BLOCK, &signals, nil)
      while !hasEnded.load(ordering: .sequentiallyConsistent) {
        guard isInForeground else {
          usleep(UInt32(interval) * 1_000)
          continue
        }
        prepare()
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, interval) > 0, isInForeground else { continue }
        var key: UInt8 = 0
        let count = read(STDIN_FILENO, &key, 1)
        if count == 0 || count < 0 && errno != EINTR && errno != EIO && errno != EAGAIN { return }
        if count == 1, key < 0x80 { body(key) }
      }
    }
  }

  /// Sets the terminal as it was, and reads no more keys. It may be called in a signal handler.
  package static func restore() {
    hasEnded.store(true, ordering: .sequentiallyConsistent)
    let address = former.exchange(0, ordering: .sequentiallyConsistent)
    guard let settings = UnsafeMutablePointer<termios>(bitPattern: address), isInForeground else { return }
    tcsetattr(STDIN_FILENO, TCSANOW, settings)
  }

  private static var isInForeground: Bool { tcgetpgrp(STDIN_FILENO) == getpgrp() }

  /// Sets the terminal, also again after a shell has set it as it was, as it does for a program that is stopped.
  private static func prepare() {
    var settings = termios()
    guard tcgetattr(STDIN_FILENO, &settings) == 0, settings.c_lflag & tcflag_t(ICANON) != 0 else { return }
    if former.load(ordering: .sequentiallyConsistent) == 0 {
      // It is never freed, because a signal handler may read it.
      let copy = UnsafeMutablePointer<termios>.allocate(capacity: 1)
      copy.initialize(to: settings)
      former.store(UInt(bitPattern: copy), ordering: .sequentiallyConsistent)
    }
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    if hasEnded.load(ordering: .sequentiallyConsistent) { restore() }
  }
}
