internal import Media
internal import PeerEngine
internal import Signalling

/// Delays the first offer or answer while candidates are sent at once.
struct CandidateFirst: ConnectionInterceptor {
  private enum State {
    case waiting
    case keeping(SignallingMessage, until: MonotonicInstant)
    case done
  }

  private var state = State.waiting

  private static let delay: Duration = .seconds(1)

  var interventions: UInt64 {
    if case .waiting = state { 0 } else { 1 }
  }

  var deadline: MonotonicInstant? {
    if case .keeping(_, let end) = state { end } else { nil }
  }

  mutating func outgoing(_ message: SignallingMessage, now: MonotonicInstant) -> SignallingMessage? {
    switch (message, state) {
    case (.candidate, _), (_, .done):
      return message
    case (_, .waiting):
      state = .keeping(message, until: now + Self.delay)
      return nil
    case (_, .keeping(_, let end)):
      // The newer description supersedes the older one.
      state = .keeping(message, until: end)
      return nil
    }
  }

  mutating func due(isConnected: Bool, now: MonotonicInstant) -> [ConnectionCommand] {
    guard case .keeping(let message, let end) = state, end <= now else { return [] }
    state = .done
    return [.send(message)]
  }
}

/// Delays the first offer and delivers it and all later messages in their order when the delay is over.
struct SlowAnswer: ConnectionInterceptor {
  private var kept: [SignallingMessage] = []
  private(set) var deadline: MonotonicInstant?
  private(set) var interventions: UInt64 = 0

  private static let delay: Duration = .seconds(8)
  /// The number of messages that are buffered; more are dropped.
  private static let capacity = 256

  mutating func incoming(_ message: SignallingMessage, now: MonotonicInstant) -> SignallingMessage? {
    if case .offer = message, interventions == 0 {
      interventions = 1
      deadline = now + Self.delay
    }
    guard deadline != nil else { return message }
    if kept.count < Self.capacity { kept.append(message) }
    return nil
  }

  mutating func due(isConnected: Bool, now: MonotonicInstant) -> [ConnectionCommand] {
    guard let deadline, deadline <= now else { return [] }
    self.deadline = nil
    defer { kept.removeAll() }
    return kept.map { .receive($0) }
  }
}

/// Sends descriptions with a fingerprint that does not match the certificate.
struct WrongFingerprint: ConnectionInterceptor {
  private(set) var interventions: UInt64 = 0

  mutating func outgoing(_ message: SignallingMessage, now: MonotonicInstant) -> SignallingMessage? {
    switch message {
    case .offer(let sdp):
      interventions += 1
      return .offer(Self.forged(sdp))
    case .answer(let sdp):
      interventions += 1
      return .answer(Self.forged(sdp))
    case .candidate:
      return message
    }
  }

  /// Returns the description with the last digit of every digest changed (RFC 8122, 5).
  private static func forged(_ sdp: String) -> String {
    let lines = sdp.split(separator: "\r\n", omittingEmptySubsequences: false).map { line in
      guard line.hasPrefix("a=fingerprint:"), let last = line.last else { return String(line) }
      return line.dropLast() + (last == "0" ? "1" : "0")
    }
    return lines.joined(separator: "\r\n")
  }
}
