package import Media

/// How much memory frames may use while they wait to be written: a common reserve and a part for each participant, up
/// to a maximum.
///
/// Half of it is for everyone. Beyond that half, each participant has an equal share (``RecordingQueue``).
package struct MemoryBudget: Sendable, Hashable {
  /// The reserve and the minimum: a minute of four participants who send 1 Mb/s each.
  static let reserve = 32 << 20
  /// What each participant adds: the three seconds of 1 Mb/s that may wait for sender reports, and then some seconds
  /// in which the disk does not respond.
  static let participantShare = 2 << 20
  /// The part of the machine's memory that may be used.
  static let machineShare = 8
  /// The maximum on every machine. It holds what 400 participants send in 10 s, and a call that ends does not wait
  /// longer for a disk.
  static let maximum = 1 << 30
  /// The minimum of a recorder that shares a budget with others: some seconds of one participant.
  private static let minimumPart = 8 << 20

  private let reserve: Int
  private let share: Int
  private let maximum: Int

  private init(reserve: Int, share: Int, maximum: Int) {
    (self.reserve, self.share, self.maximum) = (reserve, share, maximum)
  }

  /// A budget of so many bytes, however many participants there are.
  package static func fixed(_ bytes: Int) -> MemoryBudget { MemoryBudget(reserve: bytes, share: 0, maximum: bytes) }

  /// The budget that follows the machine and the number of participants: at most an eighth of the memory that this
  /// process may use, and at most half of what is available.
  ///
  /// - Parameter memory: nil if nothing is known about it.
  package static func automatic(of memory: MachineMemory?) -> MemoryBudget {
    let part = memory.map { min($0.usable / machineShare, ($0.available ?? .max) / 2) } ?? 0
    return MemoryBudget(
      reserve: reserve, share: participantShare, maximum: min(max(part, reserve), maximum))
  }

  /// Returns the bytes that may wait.
  package func limit(participants: Int) -> Int {
    // Bounded first, so that nothing overflows.
    let counted = min(max(0, participants), share > 0 ? Self.maximum / share : 0)
    return min(maximum, reserve + share * counted)
  }

  /// Returns the part of one of several recorders.
  package func divided(by recorders: Int) -> MemoryBudget {
    func part(_ bytes: Int) -> Int { min(bytes, max(bytes / max(1, recorders), Self.minimumPart)) }
    return MemoryBudget(reserve: part(reserve), share: share, maximum: part(maximum))
  }
}
