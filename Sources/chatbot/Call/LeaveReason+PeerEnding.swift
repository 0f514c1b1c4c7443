import BotPeer
import Recorder

extension LeaveReason {
  /// The manifest's word for how a connection ended.
  init(_ cause: PeerEnding.Cause) {
    switch cause {
    case .closedByParticipant: self = .left
    case .connectionLost: self = .connectionLost
    case .failed: self = .failed
    case .closedByUs: self = .stopped
    }
  }
}
