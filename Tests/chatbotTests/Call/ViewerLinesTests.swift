import Media
import Testing

@testable import chatbot

@Suite("the lines to viewers")
struct ViewerLinesTests {
  private let anna = ParticipantID("anna")
  private let bert = ParticipantID("bert")

  @Test("the encoder follows the narrowest line and the most loss, of those who are there")
  func worst() {
    var lines = ViewerLines()
    #expect(lines.worst == nil)
    lines.set(.init(bitrate: 2_000_000, fractionLost: 0.05), of: anna)
    lines.set(.init(bitrate: 300_000, fractionLost: 0), of: bert)
    #expect(lines.worst == .init(bitrate: 300_000, fractionLost: 0.05))
    lines.set(.init(bitrate: 400_000, fractionLost: 0.1), of: bert)
    #expect(lines.worst == .init(bitrate: 400_000, fractionLost: 0.1))
    lines.remove(bert)
    #expect(lines.worst == .init(bitrate: 2_000_000, fractionLost: 0.05))
    lines.remove(anna)
    #expect(lines.worst == nil)
  }
}
