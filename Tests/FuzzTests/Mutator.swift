import TestSupport

/// Makes mutations of a corpus, the same ones in every run.
struct Mutator {
  private let corpus: [[UInt8]]
  private let largest: Int
  private var generator: SeededGenerator

  /// Bytes and numbers at which parsers change their behaviour.
  private static let boundaries: [[UInt8]] = [
    [0], [1], [0x7F], [0x80], [0xFF], [0, 0], [0xFF, 0xFF], [0x7F, 0xFF], [0x80, 0], [0xFF, 0xFF, 0xFF, 0xFF],
    [0x7F, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0], [0, 0, 0, 0x80], [0xFF, 0xFF, 0xFF, 0x7F],
    [UInt8](repeating: 0xFF, count: 8), [0x7F] + [UInt8](repeating: 0xFF, count: 7), Array("-1".utf8),
    Array("99999999999999999999".utf8), Array("1e308".utf8), Array("\r\n".utf8), Array("\"".utf8), Array("[".utf8),
    Array("é\u{301}".utf8), [0xC3], [0xED, 0xA0, 0x80],
  ]

  /// - Parameter largest: The maximum size of a mutation, in bytes.
  init(_ corpus: [[UInt8]], largest: Int, seed: UInt64) {
    self.corpus = corpus.isEmpty ? [[]] : corpus
    self.largest = largest
    generator = SeededGenerator(seed: seed)
  }

  mutating func next() -> [UInt8] {
    var input = one()
    for _ in 0..<(1 << number(below: 4)) { change(&input) }
    return Array(input.prefix(largest))
  }

  private mutating func one() -> [UInt8] { corpus[number(below: corpus.count)] }

  private mutating func number(below limit: Int) -> Int { Int.random(in: 0..<max(1, limit), using: &generator) }

  /// A random range of the input, usually a short one.
  private mutating func range(in input: [UInt8]) -> Range<Int> {
    let start = number(below: input.count + 1)
    let longest = number(below: 4) == 0 ? input.count : 16
    return start..<min(input.count, start + number(below: longest + 1))
  }

  private mutating func change(_ input: inout [UInt8]) {
    guard !input.isEmpty else { return input = one() }
    let position = number(below: input.count)
    switch number(below: 16) {
    case 0...3:
      input[position] ^= 1 << number(below: 8)
    case 4, 5:
      input[position] = UInt8(truncatingIfNeeded: generator.next())
    case 6...8:
      let bytes = Self.boundaries[number(below: Self.boundaries.count)]
      input.replaceSubrange(position..<min(input.count, position + bytes.count), with: bytes)
    case 9:
      input.insert(contentsOf: Self.boundaries[number(below: Self.boundaries.count)], at: position)
    case 10, 11:
      let range = range(in: input)
      input.removeSubrange(range)
    case 12:
      let piece = input[range(in: input)]
      let times = number(below: 8) == 0 ? 1 + number(below: 200) : 1
      for _ in 0..<times where input.count < largest { input.insert(contentsOf: piece, at: position) }
    case 13:
      let other = one()
      input = Array(input[..<position] + other[number(below: other.count + 1)...])
    case 14:
      let other = one()
      input.insert(contentsOf: other[range(in: other)], at: position)
    default:
      input.removeSubrange(position...)
    }
  }
}
