import Media
import NIOCore
import NIOPosix

/// The thread that receives datagrams.
///
/// Senders estimate bandwidth from the arrival times of their packets, and a thread that waits for CPU time makes an idle
/// path look congested. So this thread does nothing else, and gets a higher priority where the system allows it (as root,
/// or by `RLIMIT_NICE`).
enum MediaThread {
  static let loop: any EventLoop = start()

  /// Starts further media threads, for `--media-threads`.
  static func more(_ count: Int) -> [any EventLoop] { (0..<max(0, count)).map { _ in start() } }

  private static func start() -> any EventLoop {
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    loop.execute { DedicatedThread.setNiceness(-10) }
    return loop
  }
}
