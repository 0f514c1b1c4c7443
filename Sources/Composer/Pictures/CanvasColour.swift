internal import Media

/// A colour as in the planes of I420: 16 to 235 for brightness, 128 for no colour.
struct CanvasColour: Sendable, Hashable {
  let luma: UInt8
  let blue: UInt8
  let red: UInt8

  static let black = CanvasColour(luma: 16, blue: 128, red: 128)
  static let white = CanvasColour(luma: 235, blue: 128, red: 128)
  /// The edge of who speaks.
  static let speech = CanvasColour(rgb: 0x4ADE_80)
  /// The sign of a frame that stands still.
  static let warning = CanvasColour(rgb: 0xFBBF_24)

  /// Converts red, green and blue of 8 bits each as BT.601 says.
  init(rgb: UInt32) {
    let (red, green, blue) = (Int(rgb >> 16 & 0xFF), Int(rgb >> 8 & 0xFF), Int(rgb & 0xFF))
    // Each sum is within 16 to 240.
    self.luma = UInt8((66 * red + 129 * green + 25 * blue + 128) >> 8 + 16)
    self.blue = UInt8((-38 * red - 74 * green + 112 * blue + 128) >> 8 + 128)
    self.red = UInt8((112 * red - 94 * green - 18 * blue + 128) >> 8 + 128)
  }

  init(luma: UInt8, blue: UInt8, red: UInt8) {
    (self.luma, self.blue, self.red) = (luma, blue, red)
  }

  /// The colour with a third of its brightness.
  var dark: CanvasColour {
    func third(_ value: UInt8, above zero: Int) -> UInt8 { UInt8(zero + (Int(value) - zero) / 3) }
    return CanvasColour(luma: third(luma, above: 16), blue: third(blue, above: 128), red: third(red, above: 128))
  }
}

extension CanvasColour {
  /// Colours on which white text can be read.
  private static let palette = [
    0xB91C1C, 0xC2410C, 0xA16207, 0x4D7C0F, 0x15803D, 0x0F766E, 0x0E7490, 0x1D4ED8, 0x4338CA, 0x7E22CE, 0xA21CAF,
    0xBE185D,
  ].map { CanvasColour(rgb: $0) }

  /// The colour of a user: the same for the same id.
  init(id: UntrustedText) {
    // FNV-1a: the same on each machine and in each process.
    let hash = id.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    self = Self.palette[Int((hash ^ hash >> 32) % UInt64(Self.palette.count))]
  }
}
