internal import Media

/// The requests that await a response, by transaction.
struct JanusRequests: Sendable {
  enum Kind: Sendable, Hashable {
    case claim, create, attachRoom, join, list, keepalive, destroy
    /// The first offer of a publication.
    case publish(ParticipantID)
    /// A further offer for what we publish. If it fails, the connection goes on as it was.
    case republish(ParticipantID)
    /// The end of what we publish; if it fails, it has ended already.
    case unpublish(ParticipantID)
    case attach(ParticipantID)
    case subscribe(ParticipantID)
    case start(ParticipantID)
    case update(ParticipantID)
    /// The request for an offer that restarts ICE. If it fails, the connection goes on as it was.
    case restart(ParticipantID)
    /// The same, if it may have been requested on the last connection.
    case repeatedRestart(ParticipantID)
    /// The choice of layers; if it fails, media flows nevertheless.
    case chooseLayers(ParticipantID)
    /// Its response has no consequence.
    case unimportant

    /// The participant whose subscription cannot go on without the response.
    var subscriber: ParticipantID? {
      switch self {
      case .attach(let participant), .subscribe(let participant), .start(let participant): participant
      case .claim, .create, .attachRoom, .join, .list, .keepalive, .destroy, .publish, .republish, .unpublish, .update,
        .restart, .repeatedRestart, .chooseLayers, .unimportant:
        nil
      }
    }

    /// Whether it is about what we publish.
    var isPublishing: Bool {
      switch self {
      case .publish, .republish: true
      case .claim, .create, .attachRoom, .join, .list, .keepalive, .destroy, .unpublish, .attach, .subscribe, .start,
        .update, .restart, .repeatedRestart, .chooseLayers, .unimportant:
        false
      }
    }

    /// Whether it restarts ICE of a connection that exists.
    var isRestart: Bool {
      switch self {
      case .republish, .restart: true
      case .claim, .create, .attachRoom, .join, .list, .keepalive, .destroy, .publish, .unpublish, .attach, .subscribe,
        .start, .update, .repeatedRestart, .chooseLayers, .unimportant:
        false
      }
    }

    /// Whether a server that does not respond is lost.
    var isEssential: Bool {
      switch self {
      case .claim, .create, .attachRoom, .join, .list, .keepalive, .publish: true
      case .republish, .unpublish, .attach, .subscribe, .start, .update, .restart, .repeatedRestart,
        .chooseLayers, .destroy, .unimportant:
        false
      }
    }
  }

  private struct Waiting: Sendable {
    var kind: Kind
    var deadline: MonotonicInstant
    /// When the server must have acknowledged the request; nil if it need not, or has done it.
    var acknowledgementDeadline: MonotonicInstant?
  }

  private var waiting: [UInt64: Waiting] = [:]
  private var last: UInt64 = 0

  /// Adds a request.
  ///
  /// - Parameter acknowledgementDeadline: when the server must have acknowledged it; nil if that is not checked.
  /// - Returns: its transaction.
  mutating func add(
    _ kind: Kind, deadline: MonotonicInstant, acknowledgementDeadline: MonotonicInstant? = nil
  ) -> String {
    last &+= 1
    waiting[last] = Waiting(kind: kind, deadline: deadline, acknowledgementDeadline: acknowledgementDeadline)
    return "\(last)"
  }

  /// Removes the request that a response belongs to.
  mutating func remove(_ transaction: String) -> Kind? {
    guard transaction.utf8.count <= 20, let number = UInt64(transaction) else { return nil }
    return waiting.removeValue(forKey: number)?.kind
  }

  /// Removes a request whose only response is an acknowledgement, and notes the acknowledgement of another one.
  mutating func acknowledged(_ transaction: String) {
    guard transaction.utf8.count <= 20, let number = UInt64(transaction), let kind = waiting[number]?.kind else {
      return
    }
    switch kind {
    case .keepalive, .unimportant: waiting[number] = nil
    case .claim, .create, .attachRoom, .join, .list, .destroy, .publish, .republish, .unpublish, .attach, .subscribe,
      .start, .update, .restart, .repeatedRestart, .chooseLayers:
      waiting[number]?.acknowledgementDeadline = nil
    }
  }

  /// Removes what was requested for a subscription that is begun again or has ended. A requested handle is still
  /// awaited, so that it can be released.
  mutating func removeAll(of participant: ParticipantID) {
    let obsolete: Set<Kind> = [
      .subscribe(participant), .start(participant), .update(participant), .restart(participant),
      .repeatedRestart(participant), .chooseLayers(participant),
    ]
    waiting = waiting.filter { !obsolete.contains($0.value.kind) }
  }

  /// Removes the requests for a restart, because the server has offered. It still offers what it has postponed.
  mutating func removeRestarts(of participant: ParticipantID) {
    waiting = waiting.filter { ![.restart(participant), .repeatedRestart(participant)].contains($0.value.kind) }
  }

  mutating func removeAll() { waiting.removeAll() }

  /// Removes and returns the requests whose time-out has passed, in the order of their transactions.
  mutating func removeExpired(now: MonotonicInstant) -> [Kind] {
    let expired = waiting.filter { $0.value.deadline <= now }.sorted { $0.key < $1.key }
    for (number, _) in expired { waiting[number] = nil }
    return expired.map(\.value.kind)
  }

  /// When the first acknowledgement is due; nil if none is awaited.
  var acknowledgementDeadline: MonotonicInstant? {
    waiting.values.lazy.compactMap(\.acknowledgementDeadline).min()
  }

  var deadline: MonotonicInstant? {
    let response = waiting.values.lazy.map(\.deadline).min()
    return [response, acknowledgementDeadline].compactMap { $0 }.min()
  }
}
