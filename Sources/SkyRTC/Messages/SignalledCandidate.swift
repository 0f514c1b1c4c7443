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
