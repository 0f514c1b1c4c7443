/// Fine noise as a film has it: it gives an encoder with bits to spare something to spend them on, and vanishes without
/// a trace where bits are short.
struct PatternNoise: Sendable {
  /// Around which luma it lies.
  static let luma: UInt8 = 104
  /// By how much it differs from that at most.
  private static let depth: UInt64 = 8
  /// How many places a line can be taken from.
  private static let positions: UInt64 = 4_093

  private let noise: [UInt8]

  /// - Parameter width: of the widest line that is requested.
  init(width: Int) {
    noise = (0..<width + Int(Self.positions)).map { index in
      Self.luma - UInt8(Self.depth) + UInt8(Self.mixed(UInt64(index)) % (2 * Self.depth + 1))
    }
  }

  /// Shows one line of one frame to `body`; every line of every frame is another.
  func withLine(_ line: Int, frame: UInt32, _ body: (UnsafePointer<UInt8>) -> Void) {
    let position = Int(Self.mixed(UInt64(frame) << 20 ^ UInt64(truncatingIfNeeded: line)) % Self.positions)
    noise.withUnsafeBufferPointer { noise in
      if let start = noise.baseAddress { body(start + position) }
    }
  }

  /// SplitMix64: the same number for the same number, and no pattern to be seen.
  private static func mixed(_ value: UInt64) -> UInt64 {
    var mixed = value &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
