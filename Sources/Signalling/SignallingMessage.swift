/// A message from one peer to another, before media can flow. A server or any other channel carries it.
public enum SignallingMessage: Sendable, Hashable {
  /// A session description of type `offer` (RFC 9429, 4.1.8).
  case offer(String)
  /// A session description of type `answer`.
  case answer(String)
  case candidate(TrickledCandidate)
}

/// An ICE candidate that is sent separately from the description (RFC 8838, RFC 8840).
public struct TrickledCandidate: Sendable, Hashable {
  /// The candidate attribute's value, for example `candidate:1 1 udp 2122260223 10.0.0.1 5000 typ host`; empty at the end
  /// of candidates.
  public var candidate: String
  /// The `a=mid` of its media section. SkyRTC clients of 2013 do not send it.
  public var mid: String?
  /// The index of its media section among the m-lines, from 0.
  public var mLineIndex: Int?

  public init(candidate: String, mid: String? = nil, mLineIndex: Int? = nil) {
    self.candidate = candidate
    self.mid = mid
    self.mLineIndex = mLineIndex
  }
}
