/// The characters of a clock, five dots wide and seven high.
enum PatternFont {
  static let columns = 5
  static let rows = 7

  /// How many dots wide a text is, with one dot between two characters.
  static func width(of characters: Int) -> Int { characters * (columns + 1) - 1 }

  /// Each line's dots, the leftmost in bit 4. 10 is a colon, 11 a point.
  static func lines(of character: Int) -> [UInt8] {
    glyphs.indices.contains(character) ? glyphs[character] : []
  }

  /// The time of day in UTC as hours, minutes and seconds, for example 12:34:56.7. Digits that
  /// change with every frame would cost an encoder more than the code does.
  ///
  /// - Parameter time: milliseconds since 1970.
  static func clock(_ time: UInt64) -> [Int] {
    let seconds = Int(time / 1_000 % 86_400)
    func two(_ number: Int) -> [Int] { [number / 10, number % 10] }
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
    return two(hours) + [colon] + two(minutes) + [colon] + two(seconds % 60) + [point]
      + [Int(time % 1_000) / 100]
  }

  private static let colon = 10
  private static let point = 11

  private static let glyphs: [[UInt8]] = [
    [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
    [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
    [0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0b01000, 0b11111],
    [0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110],
    [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
    [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
    [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
    [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
    [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
    [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
    [0b00000, 0b00100, 0b00100, 0b00000, 0b00100, 0b00100, 0b00000],
    [0b00000, 0b00000, 0b00000, 0b00000, 0b00000, 0b01100, 0b01100],
  ]
}
