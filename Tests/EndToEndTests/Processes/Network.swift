import Foundation
import NIOCore
import NIOPosix

/// Where a scenario's programs run: on the machine's own network, or on one made for them.
///
/// Firefox leaves 127.0.0.1 out of its candidates and finds its own address by the default route. An isolated network
/// gives it both on loopback alone: a network namespace whose `lo` has a second address and is the way to everywhere.
/// The test itself reaches in by an event loop whose thread has joined that namespace.
///
/// A thread, and a program, begins in the network of the thread that starts it; and Swift may start threads for tasks from that event
/// loop. So nothing relies on the network of the thread that happens to run: programs and event loops join the machine's own
/// network, too, which is that of the test's first thread.
final class Network: Sendable {
  enum Failure: Error, CustomStringConvertible {
    case notPermitted(String)

    var description: String {
      switch self {
      case .notPermitted(let reason):
        "A network namespace cannot be made (root is needed, or `unshare --map-root-user`): \(reason)."
      }
    }
  }

  /// An address of this machine that is not on 127/8, as Firefox needs it.
  static let isolatedAddress = "10.99.0.1"

  /// For connections into this network.
  let loops: MultiThreadedEventLoopGroup
  /// What to put before a command so that it runs in this network.
  let prefix: [String]
  let isIsolated: Bool
  private let holder: ChildProcess?

  private init(loops: MultiThreadedEventLoopGroup, prefix: [String], holder: ChildProcess?) {
    self.loops = loops
    self.prefix = prefix
    self.holder = holder
    isIsolated = holder != nil
  }

  /// The machine's own network.
  static func host() async -> Network {
    let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    // Where that is not permitted, a program begins in the network of the thread that starts it, which is hardly ever another.
    let mayJoin = (try? await loops.next().submit { try Self.joinNetwork(of: getpid()) }.get()) != nil
    return Network(
      loops: loops, prefix: mayJoin ? ["nsenter", "--net=/proc/\(getpid())/ns/net", "--"] : [], holder: nil)
  }

  /// A new network of one machine; it ends with `close()`.
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

  /// A TCP port that nobody listens on.
  func freePort() async throws -> Int {
    let channel = try await loops.next().flatSubmit { [loops] in
      ServerBootstrap(group: loops).bind(host: "127.0.0.1", port: 0)
    }.get()
    let port = channel.localAddress?.port ?? 0
    try await channel.close().get()
    return port
  }

  /// Whether somebody accepts TCP connections at that port of 127.0.0.1.
  func accepts(port: Int) async -> Bool {
    let channel = try? await ClientBootstrap(group: loops).connectTimeout(.seconds(1))
      .connect(host: "127.0.0.1", port: port).get()
    try? await channel?.close().get()
    return channel != nil
  }

  /// The TCP connections that are open to that port, each named by its own end.
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

  /// Reads a file of /proc to its end. Foundation takes the first short read for the end.
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

  /// Moves the calling thread, and the sockets it will open, into the network of another process.
  private static func joinNetwork(of process: Int32) throws {
    let path = "/proc/\(process)/ns/net"
    let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    defer { try? handle.close() }
    // The C library's header shows this function only under a macro that Swift does not set.
    typealias SetNS = @convention(c) (Int32, Int32) -> Int32
    guard let symbol = dlsym(nil, "setns") else { throw Failure.notPermitted("the C library has no setns") }
    let setNS = unsafeBitCast(symbol, to: SetNS.self)
    guard setNS(handle.fileDescriptor, 0) == 0 else {
      throw Failure.notPermitted("setns: \(String(cString: strerror(errno)))")
    }
  }
}
