/// How busy this machine was with media in an interval, and what it had no time for.
package struct MachineLoad: Sendable, Hashable {
  /// Datagrams that were read.
  package var datagramsRead: UInt64
  /// How many of them belonged to no participant.
  package var datagramsUnassigned: UInt64
  /// Datagrams that the kernel dropped because they were not read in time (`SO_RXQ_OVFL`, socket(7)).
  package var datagramsDropped: UInt64
  /// The share of the time that the thread was busy, 0 to 1.
  package var busy: Double

  package init(datagramsRead: UInt64, datagramsUnassigned: UInt64 = 0, datagramsDropped: UInt64, busy: Double) {
    self.datagramsRead = datagramsRead
    self.datagramsUnassigned = datagramsUnassigned
    self.datagramsDropped = datagramsDropped
    self.busy = busy
  }

  /// Whether most datagrams are those of strangers. They displace the participants' in the kernel's buffer, however little of
  /// these is processed.
  var isFlood: Bool { 2 * datagramsUnassigned > datagramsRead }
}

/// Decides for how many participants the video is suspended when this machine has no time for all that arrives.
///
/// The kernel drops datagrams of all participants when they are not read in time: some of each frame, so that no
/// participant's video can be decoded. If all video of some participants is discarded instead, it costs less time, and
/// the others lose nothing. It does not help against a flood of strangers' datagrams, so none is suspended for one.
///
/// The order of overload: docs/architecture.md.
///
/// ```
///               datagrams are dropped in 3 of 4 intervals
///   receiving all ───────────────────────────────────────────► share grows by what was dropped
///       ▲                                                        │
///       └──── share falls, faster the less busy ◄────────────────┘   nothing is dropped, and there is time to spare
/// ```
package struct OverloadController: Sendable {
  /// How often the load is reported.
  package static let interval = Duration.milliseconds(500)
  /// The number of intervals that are remembered. A single stall of the machine changes nothing, because the lost packets
  /// are retransmitted.
  private static let intervalCount = 4
  private static let minimumOverloadedIntervals = 3
  /// The minimum by which the share grows and falls.
  private static let step = 0.05
  /// The maximum share. Audio is always received, and at least one participant's video as well.
  private static let maximumShare = 0.95
  /// A thread that is busy for a larger share of its time has none to spare.
  private static let busy = 0.9

  /// The share of the participants who send video whose video is suspended, 0 to 0.95.
  package private(set) var share = 0.0
  private var recent: [Bool] = []

  package init() {}

  /// Updates the share by the load of the last ``interval``.
  package mutating func update(_ load: MachineLoad) {
    if recent.count == Self.intervalCount { recent.removeFirst() }
    recent.append(load.datagramsDropped > 0 && !load.isFlood)
    if load.datagramsDropped > 0 {
      if load.isFlood { return }
      guard recent.count(where: { $0 }) >= Self.minimumOverloadedIntervals || share > 0 else { return }
      let all = Double(load.datagramsRead) + Double(load.datagramsDropped)
      let dropped = Double(load.datagramsDropped) / all
      share = min(Self.maximumShare, share + max(Self.step, (1 - share) * dropped))
    } else if load.busy < Self.busy {
      share = max(0, share - max(Self.step, (Self.busy - load.busy) / 2))
    }
  }
}
