import Media
import PeerEngine
import PeerEngineTestSupport
import TestSupport
import Testing

/// A guest who behaves correctly while others do not.
struct HonestParticipant {
  private let call: DemultiplexerCall

  /// Lets the guest join and play.
  init(in call: DemultiplexerCall) throws {
    self.call = call
    try call.enter("anna", host: 1)
    try call.connect("anna")
    call.play("anna", seed: 12)
  }

  /// Expects that all that the guest sent was delivered unchanged, and in time.
  func expectUnharmed(sourceLocation: SourceLocation = #_sourceLocation) {
    call.run(for: .seconds(1))
    let sent = call.stop("anna")
    call.run(for: .milliseconds(200))
    #expect(sent.count > 60, sourceLocation: sourceLocation)
    let frames = call.frames(of: "anna")
    for codec in [Codec.opus, .vp8] {
      expectSame(frames.payloads(codec), sent.payloads(codec), sourceLocation: sourceLocation)
    }
    #expect(call.engine(of: "anna")?.state == .connected, sourceLocation: sourceLocation)
  }
}
