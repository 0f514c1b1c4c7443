internal import Media
package import NIOCore
internal import NIOPosix

/// The thread that receives datagrams.
///
/// Senders estimate bandwidth from the arrival times of their packets, and a thread that waits for CPU time makes an idle
/// path look congested. So this thread does nothing else, and gets a higher priority where the system allows it (as root,
/// or by `RLIMIT_NICE`).
package enum MediaThread {
  package static let loop: any EventLoop = start()

  /// Starts further media threads, for `--media-threads`.
  package static func more(_ count: Int) -> [any EventLoop] { (0..<max(0, count)).map { _ in start() } }

  private static func start() -> any EventLoop {
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    loop.execute { DedicatedThread.setNiceness(-10) }
    return loop
  }
}
