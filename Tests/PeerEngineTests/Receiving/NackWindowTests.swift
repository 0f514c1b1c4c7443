import PeerEngine
import TestSupport
import Testing

@Suite("Number of packets that are requested at a time")
struct NackWindowTests {
  /// Returns the window's size after many requests, of which a share was answered.
  private func size(answered share: Double, questions: Int = 5_000, from narrow: Bool = false) -> Int {
    var generator = SeededGenerator(seed: 3)
    var window = NackWindow()
    if narrow { for _ in 0..<1_000 { window.wasNotAnswered() } }
    for _ in 0..<questions {
      if Double.random(in: 0..<1, using: &generator) < share { window.wasAnswered() } else { window.wasNotAnswered() }
    }
    return window.size
  }

  @Test("the window is at its maximum at first and while most requests are answered")
  func open() {
    #expect(NackWindow().size == 1_000)
    #expect(size(answered: 1) == 1_000)
    // 30 % loss in both directions.
    #expect(size(answered: 0.49) > 500)
  }

  @Test("the window falls towards four when few requests are answered, and no lower")
  func narrow() {
    #expect(size(answered: 0.1) < 20)
    #expect(size(answered: 0) == 4)
    #expect(size(answered: 0, questions: 200) < 10)
  }

  @Test("the window opens within a few round trips in which all requests are answered")
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
