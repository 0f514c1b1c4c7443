import Foundation

/// A network namespace of the laboratory: a host, a router or the internet between them.
///
/// It exists as long as a process runs in it. All its processes are children of the test that `ProcessSupervisor` kills
/// when the test ends in any way. Then the kernel removes the namespace with its interfaces, routes, rules and
/// connections.
final class LabNamespace: Sendable {
  struct ScriptFailed: Error, CustomStringConvertible {
    let namespace: String
    let script: String
    let ending: ChildProcess.EndReason
    let output: String

    var description: String {
      "The set-up of \(namespace) ended with \(ending): \(output.suffix(600)). It ran: \(script.prefix(1000))"
    }
  }

  let name: String
  /// The network, with event loops of its own.
  let network: Network
  /// A process that does nothing in this namespace; `ip` finds the namespace by its id.
  private let holder: ChildProcess
  private let folder: URL

  /// Creates a namespace with nothing but 127.0.0.1 and ::1.
  ///
  /// - Parameter folder: The folder for the output of the set-up commands.
  init(_ name: String, folder: URL) async throws {
    self.name = name
    self.folder = folder
    network = try await Network.isolated(log: folder.appendingPathComponent("\(name)-network.log"))
    do {
      holder = try ChildProcess(
        "\(name) holder", network.prefix + ["sleep", "infinity"],
        log: folder.appendingPathComponent("\(name)-network.log"))
    } catch {
      await network.close()
      throw error
    }
    // The address and the default route of an isolated network are those of Firefox alone on its machine. A host of the
    // laboratory has interfaces. Its interfaces may have different routes for each direction, so that the check of the
    // reverse path is off. Where the kernel has br_netfilter, a bridge would apply the rules of the router and keep a
    // hairpinned datagram from coming back.
    try await run(
      """
      ip address delete \(Network.isolatedAddress)/32 dev lo
      for name in all default; do
        echo 0 >/proc/sys/net/ipv4/conf/$name/rp_filter
        echo 0 >/proc/sys/net/ipv6/conf/$name/accept_dad
        echo 1 >/proc/sys/net/ipv6/conf/$name/keep_addr_on_down
      done
      for setting in /proc/sys/net/bridge/bridge-nf-call-*; do
        if [ -e $setting ]; then echo 0 >$setting; fi
      done
      """)
  }

  /// The process id by which `ip link … netns` finds this namespace.
  var processID: Int32 { holder.id }

  /// Runs a shell script in this namespace and returns its output.
  ///
  /// - Throws: `ScriptFailed` if one of its commands fails.
  @discardableResult
  func run(_ script: String) async throws -> String {
    let log = folder.appendingPathComponent("\(name)-\(UUID().uuidString.prefix(8)).log")
    // The programs of root are not on every user's PATH.
    let shell = try ChildProcess(
      "set-up of \(name)", network.prefix + ["sh", "-ec", "PATH=$PATH:/usr/sbin\n\(script)"], log: log)
    let ending: ChildProcess.EndReason
    do {
      ending = try await shell.ending(within: .seconds(20))
    } catch {
      await shell.end()
      throw error
    }
    let output = shell.output
    guard ending == .exit(0) else {
      throw ScriptFailed(namespace: name, script: script, ending: ending, output: output)
    }
    try? FileManager.default.removeItem(at: log)
    return output
  }

  func close() async {
    await holder.end()
    await network.close()
  }
}
