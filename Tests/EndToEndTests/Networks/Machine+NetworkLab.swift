import Foundation
import TestSupport

extension Machine {
  /// Whether this machine has what the network laboratory needs: network namespaces with nftables, and coturn.
  static let hasNetworkLab: Bool = {
    let programs = ["nft", "turnserver", "ip", "openssl", "python3"]
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    // The programs of root are not on every user's PATH.
    let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin"]
    let missing = programs.filter { program in
      !folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }
    guard missing.isEmpty else {
      print("SKIPPED: no tests in the network laboratory, which needs \(missing.joined(separator: ", "))")
      return isCI
    }
    let script = """
      PATH=$PATH:/usr/sbin
      ip link add first type veth peer name second
      ip link add third type bridge
      nft add table ip test
      nft 'add chain ip test test { type nat hook postrouting priority srcnat; }'
      nft add rule ip test test masquerade fully-random
      """
    let probe = Process()
    probe.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    probe.arguments = ["unshare", "--net", "sh", "-ec", script]
    probe.standardOutput = FileHandle.nullDevice
    probe.standardError = FileHandle.nullDevice
    guard (try? probe.run()) != nil else { return isCI }
    probe.waitUntilExit()
    if probe.terminationStatus != 0 {
      print("SKIPPED: no tests in the network laboratory: network namespaces with nftables cannot be made here")
    }
    return probe.terminationStatus == 0 || isCI
  }()

  /// Whether all combinations of NATs are tried, as `make network` does, and not only some.
  static let runsWholeNetworkMatrix = ProcessInfo.processInfo.environment["CHATBOT_NETWORK"] != nil

  /// Whether the program under test has a client for TURN.
  static let programHasTURN: Bool = {
    let help = try? ExternalTool.run(BuiltProgram.path(), ["call", "--help"]).output
    return help?.contains("--ice-transport-policy") ?? false
  }()
}
