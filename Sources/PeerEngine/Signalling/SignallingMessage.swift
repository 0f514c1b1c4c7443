/// What two peers say to each other before media can flow. How it travels is not `BotPeer`'s business.
public enum SignallingMessage: Sendable, Hashable {
  /// A session description of type `offer` (RFC 9429, 4.1.8).
  case offer(String)
  /// A session description of type `answer`.
  case answer(String)
  case candidate(TrickledCandidate)
}

/// An ICE candidate on its way by itself (RFC 8838, RFC 8840).
public struct TrickledCandidate: Sendable, Hashable {
  /// The candidate attribute's value, for example `candidate:1 1 udp 2122260223 10.0.0.1 5000 typ host`; empty at the end
  /// of candidates.
  public var candidate: String
  /// The `a=mid` of its media section.
  public var mid: String?
  /// Its media section's place among the m-lines, from 0.
  public var mLineIndex: Int?

  public init(candidate: String, mid: String?, mLineIndex: Int?) {
    self.candidate = candidate
    self.mid = mid
    self.mLineIndex = mLineIndex
  }
}
