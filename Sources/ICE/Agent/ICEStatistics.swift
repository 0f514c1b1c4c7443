/// What an agent has counted since it was made; enough to say why a connection did not come about.
package struct ICEStatistics: Sendable, Hashable {
  /// Checks sent, retransmissions and questions for consent included.
  package var checksSent: UInt64 = 0
  /// Checks that were not sent, because their addresses have never answered and have had enough.
  package var checksHeldBack: UInt64 = 0
  /// Checks that were answered with success.
  package var checksAnswered: UInt64 = 0
  /// Checks of the other side that came with our user fragment.
  package var requestsReceived: UInt64 = 0
  /// Those that were dropped: malformed, wrong password, wrong fingerprint, or to an address that is not ours.
  package var requestsRejected: UInt64 = 0
  /// Responses to our checks that were dropped: malformed, wrong password, or from elsewhere than we asked.
  package var responsesRejected: UInt64 = 0
  /// Remote candidates that were taken, the peer-reflexive ones included.
  package var remoteCandidates: UInt64 = 0
  /// Remote candidates with a name instead of an address (`.local`), which cannot be resolved here.
  package var unresolvableCandidates: UInt64 = 0
  /// Remote candidates of no use: TCP, another component, no possible address, too many.
  package var ignoredCandidates: UInt64 = 0

  package init() {}
}
