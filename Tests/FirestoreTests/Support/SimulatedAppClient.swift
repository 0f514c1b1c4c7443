import Firestore
import Media
import Signalling

/// A client of Firestore rooms as the iOS app that the protocol comes from: it deletes its documents, waits while those
/// of the other side exist, exchanges descriptions within 4 s, must be connected within 15 s, and starts again for ever
/// when the other side's documents vanish. It acts every 200 ms.
struct SimulatedAppClient {
  private enum Phase {
    case clear
    case waitForAbsence
    case exchange(since: MonotonicInstant)
    case candidates(since: MonotonicInstant)
  }

  /// What it reads before a step.
  struct View {
    var description: StoredDescription?
    var candidates: [StoredCandidate]
  }

  /// What it writes after a step, one request after another.
  enum Request {
    case clear
    case set(StoredDescription.Kind, sdp: String)
    case add(TrickledCandidate)
  }

  let role: RoomSignalling.Role
  private var phase = Phase.clear
  private var connectionCount = 0
  private(set) var localFragment: String?
  private(set) var remoteFragment: String?
  /// Whether it has candidates of the other side that fit.
  private(set) var hasCandidates = false
  /// Set by the simulated network.
  var isConnected = false
  private(set) var resetCount = 0
  private(set) var timeoutCount = 0

  private let exchangeTimeout: Duration

  /// - Parameter exchangeTimeout: 4 s, or 12 s in later versions of the app.
  init(role: RoomSignalling.Role, exchangeTimeout: Duration = .seconds(4)) {
    self.role = role
    self.exchangeTimeout = exchangeTimeout
  }

  static let interval = Duration.milliseconds(200)

  mutating func step(_ view: View, now: MonotonicInstant) -> [Request] {
    switch phase {
    case .clear:
      isConnected = false
      localFragment = nil
      remoteFragment = nil
      hasCandidates = false
      phase = .waitForAbsence
      return [.clear]
    case .waitForAbsence:
      if view.description != nil, !view.candidates.isEmpty { return [] }
      connectionCount += 1
      localFragment = "app\(role)\(connectionCount)"
      phase = .exchange(since: now)
      if role == .host { return send(.offer) }
      return exchange(view, since: now, now: now)
    case .exchange(let since): return exchange(view, since: since, now: now)
    case .candidates(let since):
      if let fragment = remoteFragment {
        hasCandidates =
          hasCandidates || view.candidates.contains { $0.candidate.candidate.contains("ufrag \(fragment)") }
      }
      if view.description == nil || view.candidates.isEmpty {
        resetCount += 1
        phase = .clear
      } else if !isConnected, now - since >= .seconds(15) {
        timeoutCount += 1
        phase = .clear
      }
      return []
    }
  }

  private mutating func exchange(
    _ view: View, since: MonotonicInstant, now: MonotonicInstant
  ) -> [Request] {
    guard let description = view.description else {
      if now - since >= exchangeTimeout { phase = .clear }
      return []
    }
    remoteFragment = description.usernameFragment
    phase = .candidates(since: now)
    return role == .guest ? send(.answer) : []
  }

  private func send(_ kind: StoredDescription.Kind) -> [Request] {
    let fragment = localFragment ?? ""
    return [.set(kind, sdp: TestDescription.sdp(fragment, candidates: []))]
      + TestDescription.candidates(fragment).map { .add($0) }
  }
}

/// Session descriptions for tests.
enum TestDescription {
  static func sdp(_ fragment: String, candidates: [String]) -> String {
    let lines =
      [
        "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "m=audio 9 UDP/TLS/RTP/SAVPF 111", "c=IN IP4 0.0.0.0",
        "a=mid:0", "a=ice-ufrag:\(fragment)", "a=ice-pwd:abcdefghijklmnopqrstuvwx",
      ] + candidates.map { "a=\($0)" }
    return lines.joined(separator: "\r\n") + "\r\n"
  }

  static func candidates(_ fragment: String) -> [TrickledCandidate] {
    (0..<3).map { index in
      TrickledCandidate(
        candidate:
          "candidate:\(index) 1 udp \(2_122_260_223 - index) 10.0.0.1 \(5_000 + index) typ host ufrag \(fragment)",
        mid: "0", mLineIndex: 0)
    }
  }

  static let lines = [
    "candidate:1 1 udp 1677729535 203.0.113.5 5000 typ srflx raddr 0.0.0.0 rport 0",
    "candidate:2 1 udp 2122260223 10.0.0.1 5000 typ host",
  ]
}
