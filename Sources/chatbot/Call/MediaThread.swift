import Media
import NIOCore
import NIOPosix

/// The thread that datagrams are taken on.
///
/// Senders judge the line by when their packets arrived, and a thread that waits for its turn on a busy machine makes a free
/// line look full. So it has nothing else to do, and goes before others where the system allows that (as root, or by
/// `RLIMIT_NICE`).
enum MediaThread {
  static let loop: any EventLoop = start()

  /// Further ones, for `--media-threads`.
  static func more(_ count: Int) -> [any EventLoop] { (0..<max(0, count)).map { _ in start() } }

  private static func start() -> any EventLoop {
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    loop.execute { DedicatedThread.setNiceness(-10) }
    return loop
  }
}
