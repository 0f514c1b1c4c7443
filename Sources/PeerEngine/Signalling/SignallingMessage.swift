/// What two peers say to each other before media can flow. How it travels is not `BotPeer`'s business.
public enum SignallingMessage: Sendable, Hashable {
  /// A session description of type `offer` (RFC 9429, 4.1.8).
  case offer(String)
  /// A session description of type `answer`.
  case answer(String)
  case candidate(TrickledCandidate)
}
