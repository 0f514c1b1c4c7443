/// Why ICE was restarted (RFC 8445, 9). The descriptions are sentences for the log.
public enum ICERestartReason: Sendable, Hashable, CustomStringConvertible {
  /// Nothing has been received from the participant for this time.
  case silence(Duration)
  /// Connectivity checks have not been answered for this time, although the participant was heard in the last seconds.
  case unansweredChecks(Duration)
  /// The path to the participant was lost, for example because its local address or its TCP connection has gone.
  case pathLost
  /// A new path is wanted, although the present one may work: `Peer.restartICE(of:)` was called, or the address at a TURN server
  /// is about to be replaced.
  case requested

  public var description: String {
    let cause =
      switch self {
      case .silence(let duration): "Nothing was received from the participant for \(duration.components.seconds) s"
      case .unansweredChecks(let duration):
        "The participant has answered no connectivity check for \(duration.components.seconds) s"
      case .pathLost: "The path to the participant was lost"
      case .requested: "A new path is wanted"
      }
    return "\(cause); ICE is restarted."
  }
}
