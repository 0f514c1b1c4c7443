import Media
import RTP

/// Groups packets that left together, and computes how much longer one group took than the one before it
/// (draft-ietf-rmcat-gcc-02, 5.2 and 5.3): the packets of one frame queue behind each other on any path.
package struct InterArrivalGroups: Sendable {
  /// The change from one group to the next, in milliseconds.
  package struct Change: Sendable, Hashable {
    /// The time between the departures of the last packets.
    package var sent: Double
    /// The time between the arrivals of the last packets.
    package var arrived: Double
    /// When the later group was complete, in milliseconds on the receiver's clock.
    package var arrival: Double
  }

  private struct Group: Sendable {
    var firstSent: MonotonicInstant
    var lastSent: MonotonicInstant
    var firstArrived: Int64
    var lastArrived: Int64
  }

  /// Packets that leave within this time are one group.
  private static let maximumGroup: Duration = .milliseconds(5)
  /// Packets that arrive within this time after each other, closer together than they left, were queued together somewhere.
  private static let burstGap: Int64 = 5_000
  private static let maximumBurst: Int64 = 100_000

  private var previous: Group?
  private var current: Group?

  package init() {}

  /// Adds the next packet in order of arrival; returns the change for the group that ends with it.
  package mutating func add(_ packet: SentPacketLog.Arrival) -> Change? {
    guard var group = current else {
      current = Self.group(packet)
      return nil
    }
    // A packet that left before the group began was overtaken, and is ignored.
    guard packet.sent >= group.firstSent else { return nil }
    if packet.sent - group.firstSent <= Self.maximumGroup || isBurst(packet, group) {
      group.lastSent = max(group.lastSent, packet.sent)
      group.lastArrived = max(group.lastArrived, packet.arrived)
      current = group
      return nil
    }
    defer {
      previous = group
      current = Self.group(packet)
    }
    guard let previous else { return nil }
    return Change(
      sent: (group.lastSent - previous.lastSent) / .milliseconds(1),
      arrived: Double(group.lastArrived - previous.lastArrived) / 1_000, arrival: Double(group.lastArrived) / 1_000)
  }

  private func isBurst(_ packet: SentPacketLog.Arrival, _ group: Group) -> Bool {
    let arrived = packet.arrived - group.lastArrived
    let sent = Int64((packet.sent - group.lastSent) / .microseconds(1))
    return arrived <= Self.burstGap && arrived < sent && packet.arrived - group.firstArrived < Self.maximumBurst
  }

  private static func group(_ packet: SentPacketLog.Arrival) -> Group {
    Group(firstSent: packet.sent, lastSent: packet.sent, firstArrived: packet.arrived, lastArrived: packet.arrived)
  }
}
