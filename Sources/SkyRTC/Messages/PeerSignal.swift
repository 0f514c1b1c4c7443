/// What one participant tells another by way of the server, which only passes it on.
public enum PeerSignal: Sendable, Hashable {
  case offer(SignalledDescription)
  case answer(SignalledDescription)
  case candidate(SignalledCandidate)
}

/// An ICE candidate on its way.
public struct SignalledCandidate: Sendable, Hashable {
  /// For example `candidate:1 1 udp 2122260223 10.0.0.1 5000 typ host`. Empty at the end of the candidates (Firefox).
  public var candidate: String
  /// The media section's `a=mid`. Clients of 2013 do not send it.
  public var mid: String?
  /// The media section's place among the m-lines, from 0.
  public var index: Int?

  public init(candidate: String, mid: String? = nil, index: Int? = nil) {
    self.candidate = candidate
    self.mid = mid
    self.index = index
  }
}

/// A session description on its way, as a browser's `RTCSessionDescription` in JSON.
public struct SignalledDescription: Sendable, Hashable {
  /// What the sender calls it, `offer` or `answer`. Some old clients send their own offer back as an `_answer`.
  public var type: String
  /// The SDP text.
  public var sdp: String

  public init(type: String, sdp: String) {
    self.type = type
    self.sdp = sdp
  }
}
