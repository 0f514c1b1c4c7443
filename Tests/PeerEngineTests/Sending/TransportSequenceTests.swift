import PeerEngine
import Testing

@Suite("Transport-wide sequence numbers")
struct TransportSequenceTests {
  @Test("numbers increase by one and wrap around")
  func wrap() {
    var sequence = TransportSequence(first: 65_534)
    #expect((0..<4).map { _ in sequence.take() } == [65_534, 65_535, 0, 1])
  }
}
