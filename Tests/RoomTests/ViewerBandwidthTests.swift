import Media
import Room
import Testing

@Suite("the bandwidth of viewers")
struct ViewerBandwidthTests {
  private let anna = ParticipantID("anna")
  private let bert = ParticipantID("bert")

  @Test("with one viewer its bandwidth is used as it is, and without a viewer there is none")
  func single() {
    var bandwidth = ViewerBandwidth()
    #expect(bandwidth.common == nil)
    bandwidth.set(.init(bitrate: 300_000, fractionLost: 0.4), of: anna)
    #expect(bandwidth.common == .init(bitrate: 300_000, fractionLost: 0.4))
    bandwidth.remove(anna)
    #expect(bandwidth.common == nil)
  }

  @Test("with several viewers the lowest bandwidth and the highest loss are used")
  func narrowest() {
    var bandwidth = ViewerBandwidth()
    bandwidth.set(.init(bitrate: 2_000_000, fractionLost: 0.02), of: anna)
    bandwidth.set(.init(bitrate: 1_200_000, fractionLost: 0), of: bert)
    #expect(bandwidth.common == .init(bitrate: 1_200_000, fractionLost: 0.02))
    bandwidth.remove(bert)
    #expect(bandwidth.common == .init(bitrate: 2_000_000, fractionLost: 0.02))
  }

  @Test("a viewer that reports no bandwidth costs the others at most half the bitrate", arguments: 1...9)
  func falseWord(others: Int) {
    var bandwidth = ViewerBandwidth()
    for number in 0..<others {
      bandwidth.set(.init(bitrate: 1_000_000, fractionLost: 0.01), of: ParticipantID("viewer \(number)"))
    }
    bandwidth.set(.init(bitrate: 1_000, fractionLost: 1), of: bert)
    #expect(bandwidth.common?.bitrate == 500_000)
    #expect((bandwidth.common?.fractionLost ?? 1) <= 0.071)
  }
}
