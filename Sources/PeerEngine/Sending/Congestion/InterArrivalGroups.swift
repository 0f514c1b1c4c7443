import Media
import RTP

/// Joins packets that left together into groups, and says how much longer one group took than the one before it
/// (draft-ietf-rmcat-gcc-02, 5.2 and 5.3): single packets of one frame queue behind each other whatever the line does.
package struct InterArrivalGroups: Sendable {
  /// What changed from one group to the next, in milliseconds.
  package struct Change: Sendable, Hashable {
    /// Between the last packets' departures.
    package var sent: Double
    /// Between the last packets' arrivals.
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
  /// Packets that come within this time after each other, sooner than they left, waited together somewhere.
  private static let burstGap: Int64 = 5_000
  private static let maximumBurst: Int64 = 100_000

  private var previous: Group?
  private var current: Group?

  package init() {}

  /// Takes in the next packet in order of arrival; gives the change that its group's beginning completes.
  package mutating func add(_ packet: SentPacketLog.Arrival) -> Change? {
    guard var group = current else {
      current = Self.group(packet)
      return nil
    }
    // One that left before the group began was overtaken, and tells nothing.
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
