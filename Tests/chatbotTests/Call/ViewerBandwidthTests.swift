import Media
import Testing

@testable import chatbot

@Suite("the bandwidth of viewers")
struct ViewerBandwidthTests {
  private let anna = ParticipantID("anna")
  private let bert = ParticipantID("bert")

  @Test("with one viewer its bandwidth is used as it is, and without a viewer there is none")
  func single() {
    var lines = ViewerBandwidth()
    #expect(lines.common == nil)
    lines.set(.init(bitrate: 300_000, fractionLost: 0.4), of: anna)
    #expect(lines.common == .init(bitrate: 300_000, fractionLost: 0.4))
    lines.remove(anna)
    #expect(lines.common == nil)
  }

  @Test("with several viewers the lowest bandwidth and the highest loss are used")
  func narrowest() {
    var lines = ViewerBandwidth()
    lines.set(.init(bitrate: 2_000_000, fractionLost: 0.02), of: anna)
    lines.set(.init(bitrate: 1_200_000, fractionLost: 0), of: bert)
    #expect(lines.common == .init(bitrate: 1_200_000, fractionLost: 0.02))
    lines.remove(bert)
    #expect(lines.common == .init(bitrate: 2_000_000, fractionLost: 0.02))
  }

  @Test("a viewer that reports no bandwidth costs the others at most half the bitrate", arguments: 1...9)
  func falseWord(others: Int) {
    var lines = ViewerBandwidth()
    for number in 0..<others {
      lines.set(.init(bitrate: 1_000_000, fractionLost: 0.01), of: ParticipantID("viewer \(number)"))
    }
    lines.set(.init(bitrate: 1_000, fractionLost: 1), of: bert)
    #expect(lines.common?.bitrate == 500_000)
    #expect((lines.common?.fractionLost ?? 1) <= 0.071)
  }
}
