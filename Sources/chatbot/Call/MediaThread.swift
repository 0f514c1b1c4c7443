import Glibc
import NIOCore
import NIOPosix

/// The thread that datagrams are taken on.
///
/// Senders judge the line by when their packets arrived, and a thread that waits for its turn on a busy machine makes a free
/// line look full. So it has nothing else to do, and goes before others where the system allows that (as root, or by
/// `RLIMIT_NICE`).
enum MediaThread {
  static let loop: any EventLoop = {
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    // On Linux 0 means the calling thread alone.
    loop.execute { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, -10) }
    return loop
  }()
}
