import Foundation

extension NetworkLab {
  /// Delays all that a host sends and receives over an uplink.
  ///
  /// - Parameter delay: In each direction, so that a round trip takes twice as long.
  func delay(_ uplink: LabUplink, by delay: Duration) async throws {
    // host eth0 ‖ port ─ program ─ portA ‖ portB ─ bridge. The other side must not answer at the ports on its own.
    let (port, inner, outer) = (uplink.otherDevice, "\(uplink.otherDevice)A", "\(uplink.otherDevice)B")
    let scripts = BuiltProgram.repository.appendingPathComponent("Tests/Network").path
    let milliseconds = Int(delay / .milliseconds(1))
    try await uplink.host.run("/usr/bin/python3 '\(scripts)/plain-interface.py' \(uplink.device)")
    try await uplink.other.run(
      """
      ip link set \(port) nomaster
      ip link add \(inner) type veth peer name \(outer)
      for device in \(port) \(inner); do
        ip link set $device arp off
        echo 1 >/proc/sys/net/ipv6/conf/$device/disable_ipv6
      done
      /usr/bin/python3 '\(scripts)/plain-interface.py' \(outer)
      ip link set \(inner) up
      ip link set \(outer) master \(uplink.otherBridge) up
      """)
    let name = "delay of \(uplink.device) of \(uplink.host.name)"
    let program = try await scenario.program(
      name.file,
      uplink.other.network.prefix + ["/usr/bin/python3", "\(scripts)/link-delay.py", port, inner, "\(milliseconds)"],
      folder: folder)
    try await eventually(name, within: .seconds(10)) { () -> Bool? in
      guard program.isRunning else { throw NotStarted(name: name, output: program.output) }
      return program.output.contains("ready") ? true : nil
    }
  }
}
