extension SkyRTCClient {
  /// What happens in the room, in order.
  public enum Event: Sendable, Hashable {
    /// We are in the room under this id, and these were there before us: we offer to each of them.
    ///
    /// Comes again after every lost connection. With this project's server the ids are then the same as before; another
    /// server gives new ones. Whoever is not among `others` any more has lost the server too, and may come back.
    case joined(you: String, others: [String])
    /// Somebody came after us: they will offer.
    case participantJoined(String)
    /// Somebody's connection to the server ended.
    case participantLeft(String)
    case offer(from: String, sdp: String)
    case answer(from: String, sdp: String)
    /// An ICE candidate; empty at the end of candidates. `mid` or `index` or both say for which media section.
    case candidate(from: String, candidate: String, mid: String?, index: Int?)
    /// The server is lost, and the next attempt to connect follows after `retryAfter`. Comes once for every failed
    /// attempt. Calls go on without the server.
    case disconnected(reason: String, retryAfter: Duration)
  }
}
