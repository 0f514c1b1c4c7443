/// Random damage to a text.
enum Damage {
  /// Changes, removes, repeats or inserts a few bytes.
  static func apply(to text: String, using generator: inout some RandomNumberGenerator) -> String {
    var bytes = Array(text.utf8)
    let inserted = Array("\"\\{}[],:-0919e.ntfu ok\u{0}".utf8)
    for _ in 0..<Int.random(in: 1...6, using: &generator) {
      guard !bytes.isEmpty else { break }
      let place = Int.random(in: 0..<bytes.count, using: &generator)
      switch Int.random(in: 0..<5, using: &generator) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
      case 1: bytes.remove(at: place)
      case 2: bytes.insert(inserted.randomElement(using: &generator) ?? 0, at: place)
      case 3: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...40, using: &generator)))
      default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 30)], at: place)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
