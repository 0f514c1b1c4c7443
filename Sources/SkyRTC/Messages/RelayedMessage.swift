package import Signalling

/// What one participant tells another by way of the server, which only passes it on.
package enum RelayedMessage: Sendable, Hashable {
  case offer(SignalledDescription)
  case answer(SignalledDescription)
  case candidate(TrickledCandidate)
}

/// A session description on its way, as a browser's `RTCSessionDescription` in JSON.
package struct SignalledDescription: Sendable, Hashable {
  /// What the sender calls it, `offer` or `answer`. Some old clients send their own offer back as an `_answer`.
  package var type: String
  /// The SDP text.
  package var sdp: String

  package init(type: String, sdp: String) {
    self.type = type
    self.sdp = sdp
  }
}
