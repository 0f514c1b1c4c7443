import Foundation
import NIOCore
import NIOPosix
import TestSupport

/// The network of a scenario's programs: the machine's own, or an isolated one.
///
/// Firefox omits 127.0.0.1 from its candidates and finds its own address through the default route. An isolated network
/// provides both on loopback alone: a network namespace whose `lo` has a second address and is the default route. The
/// test itself reaches it through an event loop whose thread has joined that namespace.
///
/// A thread or program starts in the network of the thread that creates it, and Swift may create task threads from that
/// event loop. Therefore nothing relies on the network of the current thread: programs and event loops also join the
/// machine's own network explicitly, which is that of the test's first thread.
final class Network: Sendable {
  enum Failure: Error, CustomStringConvertible {
    case notPermitted(String)

    var description: String {
      switch self {
      case .notPermitted(let reason):
        "A network namespace cannot be created (root is needed, or `unshare --map-root-user`): \(reason)."
      }
    }
  }

  /// An address of this machine outside 127/8, which Firefox needs.
  static let isolatedAddress = "10.99.0.1"

  /// Event loops for connections into this network.
  let loops: MultiThreadedEventLoopGroup
  /// The command prefix that runs a command in this network.
  let prefix: [String]
  let isIsolated: Bool
  private let holder: ChildProcess?

  private init(loops: MultiThreadedEventLoopGroup, prefix: [String], holder: ChildProcess?) {
    self.loops = loops
    self.prefix = prefix
    self.holder = holder
    isIsolated = holder != nil
  }

  /// Returns the machine's own network.
  static func host() async -> Network {
    let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    // Where that is not permitted, a program starts in the network of the creating thread, which is almost always the same.
    let mayJoin = (try? await loops.next().submit { try Self.joinNetwork(of: getpid()) }.get()) != nil
    return Network(
      loops: loops, prefix: mayJoin ? ["nsenter", "--net=/proc/\(getpid())/ns/net", "--"] : [], holder: nil)
  }

  /// Creates an isolated network, which exists until `close()`.
  static func isolated(log: URL) async throws -> Network {
    let script = """
      ip link set lo up && ip addr add \(isolatedAddress)/32 dev lo && \
      ip route add default dev lo src \(isolatedAddress) && echo ready && exec sleep 3600
      """
    let holder = try ChildProcess("network", ["unshare", "--net", "sh", "-c", script], log: log)
    do {
      try await eventually("network namespace", within: .seconds(5), every: .milliseconds(10)) {
        if holder.output.contains("ready") { return true }
        if !holder.isRunning {
          throw Failure.notPermitted(holder.output.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return nil
      }
      let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      try await loops.next().submit { try Self.joinNetwork(of: holder.id) }.get()
      return Network(
        loops: loops, prefix: ["nsenter", "--target", "\(holder.id)", "--net", "--"], holder: holder)
    } catch {
      await holder.end()
      throw error
    }
  }

  func close() async {
    try? await loops.shutdownGracefully()
    await holder?.end()
  }

  /// Returns a TCP port that is not in use.
  func freePort() async throws -> Int {
    try await loops.next().submit { try ServerPort.unused() }.get()
  }

  /// Whether a program accepts TCP connections at that port of 127.0.0.1.
  func accepts(port: Int) async -> Bool {
    let channel = try? await ClientBootstrap(group: loops).connectTimeout(.seconds(1))
      .connect(host: "127.0.0.1", port: port).get()
    try? await channel?.close().get()
    return channel != nil
  }

  /// Returns the established TCP connections to that port, each as its local address.
  func connections(to port: Int) -> Set<Substring> {
    let table = Self.text(of: "/proc/\(holder?.id ?? getpid())/net/tcp")
    let remoteEnd = ":" + String(format: "%04X", port)
    let established = "01"
    let open = table.split(separator: "\n").compactMap { line -> Substring? in
      let fields = line.split(separator: " ")
      return fields.count > 3 && fields[2].hasSuffix(remoteEnd) && fields[3] == established ? fields[1] : nil
    }
    return Set(open)
  }

  /// Reads a file of /proc to its end. Foundation treats the first short read as the end.
  private static func text(of path: String) -> String {
    guard let file = fopen(path, "r") else { return "" }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = fread(&part, 1, part.count, file)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += part[..<count]
    }
  }

  /// Moves the calling thread, and the sockets that it opens later, into the network of another process.
  private static func joinNetwork(of process: Int32) throws {
    let path = "/proc/\(process)/ns/net"
    let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? handle.close() }
    // The C library's header declares this function only with a macro that Swift does not set.
    typealias SetNS = @convention(c) (Int32, Int32) -> Int32
    guard let symbol = dlsym(nil, "setns") else { throw Failure.notPermitted("the C library has no setns") }
    let setNS = unsafeBitCast(symbol, to: SetNS.self)
    guard setNS(handle.fileDescriptor, 0) == 0 else {
      throw Failure.notPermitted("setns: \(String(cString: strerror(errno)))")
    }
  }
}
