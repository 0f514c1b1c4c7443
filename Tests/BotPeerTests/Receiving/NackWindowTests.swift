import TestSupport
import Testing

@testable import BotPeer
@testable import NetworkEmulation
@testable import PeerEngine

@Suite("How many packets are requested at a time")
struct NackWindowTests {
  /// A window after many questions, of which a share was answered.
  private func size(answered share: Double, questions: Int = 5_000, from narrow: Bool = false) -> Int {
    var generator = SeededGenerator(seed: 3)
    var window = NackWindow()
    if narrow { for _ in 0..<1_000 { window.wasNotAnswered() } }
    for _ in 0..<questions {
      if Double.random(in: 0..<1, using: &generator) < share { window.wasAnswered() } else { window.wasNotAnswered() }
    }
    return window.size
  }

  @Test("is all of them at first, and while most questions are answered")
  func open() {
    #expect(NackWindow().size == 1_000)
    #expect(size(answered: 1) == 1_000)
    // 30 % of loss both ways.
    #expect(size(answered: 0.49) > 500)
  }

  @Test("becomes four when one question in ten is answered, and not less")
  func narrow() {
    #expect(size(answered: 0.1) < 20)
    #expect(size(answered: 0) == 4)
    #expect(size(answered: 0, questions: 200) < 10)
  }

  @Test("opens again within some round trips in which all is answered")
  func opening() {
    var window = NackWindow()
    for _ in 0..<1_000 { window.wasNotAnswered() }
    var roundTrips = 0
    while window.size < 500 {
      for _ in 0..<window.size { window.wasAnswered() }
      roundTrips += 1
    }
    #expect(roundTrips <= 5)
  }
}
