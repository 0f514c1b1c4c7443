import Testing

@testable import BotPeer
@testable import NetworkEmulation
@testable import PeerEngine

@Suite("Transport sequence")
struct TransportSequenceTests {
  @Test("numbers go up by one and wrap")
  func wrap() {
    var sequence = TransportSequence(first: 65_534)
    #expect((0..<4).map { _ in sequence.take() } == [65_534, 65_535, 0, 1])
  }
}
