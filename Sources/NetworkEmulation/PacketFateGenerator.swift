internal import Media

/// The random numbers of one line and one sort of datagrams, with the state of the line that they have led to.
struct PacketFateGenerator: Sendable {
  /// What was drawn for one datagram; all but the first are even from 0 to 1, without 1.
  struct Draw {
    var isLost: Bool
    var jitter: Double
    var order: Double
    var hold: Double
  }

  private var generator: SplitMix64
  /// Whether the line loses everything just now.
  private var isBad = false

  init(seed: UInt64) {
    generator = SplitMix64(seed: seed)
  }

  mutating func draw(_ conditions: Impairment.Conditions) -> Draw {
    Draw(isLost: loses(conditions), jitter: random(), order: random(), hold: random())
  }

  private mutating func loses(_ conditions: Impairment.Conditions) -> Bool {
    let (change, single) = (random(), random())
    guard let burst = conditions.burst, conditions.loss > 0 else {
      isBad = false
      return single < conditions.loss
    }
    // These two chances give bursts of this length and this share of bad moments in the long run (Gilbert, 1960).
    let toGood = 1 / burst
    let toBad = min(1, conditions.loss / (1 - conditions.loss) * toGood)
    if change < (isBad ? toGood : toBad) { isBad.toggle() }
    return isBad
  }

  private mutating func random() -> Double {
    Double(generator.next() >> 11) * 0x1p-53
  }
}
