internal import Media
internal import Signalling

/// The participants whom we are to offer to, in order. Offers to a full room are paced: each one needs a certificate and causes
/// an answer, candidates and connectivity checks. Pure.
struct OfferQueue {
  /// The number of offers in each interval.
  static let group = 10
  static let interval = Duration.milliseconds(50)

  private var participants: [ParticipantID: SignalledParticipant] = [:]
  /// The order of the participants.
  private var order: [ParticipantID] = []
  private var sentInInterval = 0
  private var intervalEnd: MonotonicInstant?

  /// When the next offer is due; nil if none waits.
  var deadline: MonotonicInstant? { participants.isEmpty ? nil : intervalEnd }

  func contains(_ id: ParticipantID) -> Bool { participants[id] != nil }

  /// Adds a participant, or replaces what was known of one who waits.
  mutating func add(_ participant: SignalledParticipant) {
    if participants.updateValue(participant, forKey: participant.id) == nil { order.append(participant.id) }
  }

  mutating func remove(_ id: ParticipantID) -> SignalledParticipant? {
    guard let removed = participants.removeValue(forKey: id) else { return nil }
    // One who comes again waits behind the others.
    if let index = order.firstIndex(of: id) { order.remove(at: index) }
    return removed
  }

  /// Removes and returns the participants whom we may offer to now.
  mutating func takeDue(now: MonotonicInstant) -> [SignalledParticipant] {
    if participants.isEmpty { return [] }
    if intervalEnd.map({ now >= $0 }) ?? true {
      sentInInterval = 0
      intervalEnd = now + Self.interval
    }
    let due = order.prefix(Self.group - sentInInterval)
    order.removeFirst(due.count)
    sentInInterval += due.count
    return due.compactMap { participants.removeValue(forKey: $0) }
  }
}
