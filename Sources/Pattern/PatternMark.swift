/// The audio of one mark: a chirp upwards, eight tones that carry a number, a chirp downwards.
///
/// | part | samples | what |
/// |---|---|---|
/// | chirp | 1,440 (30 ms) | 800 to 2,800 Hz |
/// | eight tones | 960 each (20 ms) | 800 Hz + 125 Hz × symbol |
/// | chirp | 1,440 (30 ms) | 2,800 to 800 Hz |
///
/// The eight symbols of four bits are a Reed-Solomon code word of a byte: any two code words are alike in one place at
/// most, so that three wrong symbols can be corrected.
enum PatternMark {
  static let chirpLength = 1_440
  static let toneLength = 960
  static let symbols = 8
  static let tones = 16
  static let length = 2 * chirpLength + symbols * toneLength

  static let lowestFrequency = 800.0
  static let toneDistance = 125.0
  static let highestFrequency = 2_800.0

  /// Where the tone of a symbol begins, in samples from the mark's start.
  static func start(ofSymbol position: Int) -> Int { chirpLength + position * toneLength }

  /// Where the second chirp begins, in samples from the mark's start.
  static let secondChirp = chirpLength + symbols * toneLength

  /// The eight symbols of a number: high ⊕ low · αⁱ in GF(16) with x⁴ + x + 1, from the number's two halves.
  static func codeWord(_ number: UInt8) -> [Int] {
    var product = Int(number & 15)
    return (0..<symbols).map { _ in
      defer { product = product << 1 ^ (product & 8 == 0 ? 0 : 0b10011) }
      return Int(number >> 4) ^ product
    }
  }
}
