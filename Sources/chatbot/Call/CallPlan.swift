import BotPeer
import LiveSource
import Recorder

/// What a call is to be: which room, what is played, returned and recorded, and how to be reached.
struct CallPlan: Sendable {
  var connectionSettings: ConnectionSettings
  /// Whether the embedded server may be started when nothing listens there.
  var mayStartServer = false
  /// What is played; nil for nothing.
  var camera: LiveCamera.Options?
  /// The most that is sent to each, in bits a second.
  var maximumBitrate = 2_500_000
  /// Whether users get back what they send, and how much later.
  var loopback = false
  var delay: Duration = .zero
  /// The folder to record into; nil for none.
  var record: String?
  var segment: SegmentLimit?
  /// Whether each recorded frame is decoded, too.
  var verifies = true
  /// Leave after so long; nil for staying.
  var duration: Duration?
  var impairment: Impairment?
  var fault: Fault?

  init(_ connectionSettings: ConnectionSettings) {
    self.connectionSettings = connectionSettings
  }

  /// What is played, for people.
  var cameraName: String {
    switch camera?.input {
    case .file(let path): path
    case .standardInput: "standard input"
    case .pattern: "pattern"
    case nil: ""
    }
  }
}
