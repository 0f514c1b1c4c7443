/// How much of a time this machine was busy with media, and what it had no time for.
package struct MachineLoad: Sendable, Hashable {
  /// Datagrams that were read.
  package var datagramsRead: UInt64
  /// Datagrams that the kernel dropped because they were not read in time (`SO_RXQ_OVFL`, socket(7)).
  package var datagramsDropped: UInt64
  /// The share of the time that the thread was busy, 0 to 1.
  package var busy: Double

  package init(datagramsRead: UInt64, datagramsDropped: UInt64, busy: Double) {
    self.datagramsRead = datagramsRead
    self.datagramsDropped = datagramsDropped
    self.busy = busy
  }
}

/// Of how many participants the video is left unread, when this machine has no time for all that comes.
///
/// The kernel drops datagrams of everybody when they are not read in time: some of each frame, so that nobody's video can be
/// decoded. To leave all video of some participants unread costs these less time than to read a half of everybody's, and the
/// others lose nothing.
///
/// ```
///               datagrams are dropped in 3 of 4 times in a row
///   reading all ─────────────────────────────────────────────► share grows by what was dropped
///       ▲                                                        │
///       └──── share falls, the faster the less busy ◄────────────┘   nothing is dropped, and there is time to spare
/// ```
package struct OverloadController: Sendable {
  /// How often it is told of the load.
  package static let interval = Duration.milliseconds(500)
  /// What one is told of is remembered; a single stall of the machine changes nothing, because what it cost is sent again.
  private static let memory = 4
  private static let enough = 3
  /// The least by which the share grows and falls.
  private static let step = 0.05
  /// Audio is always read, and somebody's video as well.
  private static let largest = 0.95
  /// A thread that is busy for more of its time than this has none to spare.
  private static let busy = 0.9

  /// Of the participants who send video, 0 to 0.95.
  package private(set) var share = 0.0
  private var recent: [Bool] = []

  package init() {}

  /// Takes the load of the last ``interval``.
  package mutating func update(_ load: MachineLoad) {
    if recent.count == Self.memory { recent.removeFirst() }
    recent.append(load.datagramsDropped > 0)
    if load.datagramsDropped > 0 {
      guard recent.count(where: { $0 }) >= Self.enough || share > 0 else { return }
      let all = Double(load.datagramsRead) + Double(load.datagramsDropped)
      let dropped = Double(load.datagramsDropped) / all
      share = min(Self.largest, share + max(Self.step, (1 - share) * dropped))
    } else if load.busy < Self.busy {
      share = max(0, share - max(Self.step, (Self.busy - load.busy) / 2))
    }
  }
}
