import NIOCore

/// Writes VP9 headers for tests, bit by bit.
struct VP9HeaderBits {
  private var bits: [UInt8] = []

  var count: Int { bits.count }

  /// The bits, filled up to whole bytes.
  var bytes: [UInt8] {
    stride(from: 0, to: bits.count, by: 8).map { start in
      (0..<8).reduce(UInt8(0)) { $0 << 1 | (start + $1 < bits.count ? bits[start + $1] : 0) }
    }
  }

  mutating func write(_ value: Int, _ count: Int) {
    for position in stride(from: count - 1, through: 0, by: -1) { bits.append(UInt8(value >> position & 1)) }
  }

  /// Writes random bits.
  mutating func write(random count: Int, using generator: inout some RandomNumberGenerator) {
    for _ in 0..<count { bits.append(UInt8.random(in: 0...1, using: &generator)) }
  }

  /// Writes a flag, and `count` random bits after it if it is set.
  mutating func writeOptional(_ count: Int, using generator: inout some RandomNumberGenerator) {
    if flag(using: &generator) { write(random: count, using: &generator) }
  }

  /// Writes a random flag and returns it.
  mutating func flag(using generator: inout some RandomNumberGenerator) -> Bool {
    let isSet = Bool.random(using: &generator)
    write(isSet ? 1 : 0, 1)
    return isSet
  }
}

extension VP9HeaderBits {
  /// An inter frame that is shown, with random fields (VP9 bitstream specification, 6.2).
  ///
  /// - Parameters:
  ///   - profile: 0...3.
  ///   - size: the size if the frame states it, and its width in any case.
  ///   - found: which of the three references has the frame's size; nil if it states it.
  ///   - slots: the three references.
  static func interFrame(
    profile: Int, width: Int, height: Int, found: Int?, slots: [Int], using generator: inout some RandomNumberGenerator
  ) -> VP9HeaderBits {
    var header = VP9HeaderBits()
    header.write(2, 2)
    header.write(profile & 1, 1)
    header.write(profile >> 1, 1)
    if profile == 3 { header.write(0, 1) }
    // show_existing_frame, frame_type, show_frame
    header.write(0b011, 3)
    let isErrorResilient = header.flag(using: &generator)
    if !isErrorResilient { header.write(random: 2, using: &generator) }
    header.write(random: 8, using: &generator)
    for slot in slots {
      header.write(slot, 3)
      header.write(random: 1, using: &generator)
    }
    for reference in 0..<(found ?? 3) where reference >= 0 { header.write(0, 1) }
    if found != nil {
      header.write(1, 1)
    } else {
      header.write(width - 1, 16)
      header.write(height - 1, 16)
    }
    header.writeOptional(32, using: &generator)
    header.write(random: 1, using: &generator)
    if !header.flag(using: &generator) { header.write(random: 2, using: &generator) }
    if !isErrorResilient { header.write(random: 2, using: &generator) }
    header.write(random: 2, using: &generator)
    header.writeRest(width: width, using: &generator)
    return header
  }

  /// Writes the fields from the loop filter on, with a compressed header of 5 bytes.
  private mutating func writeRest(width: Int, using generator: inout some RandomNumberGenerator) {
    write(random: 9, using: &generator)
    if flag(using: &generator), flag(using: &generator) {
      for _ in 0..<6 { writeOptional(7, using: &generator) }
    }
    write(random: 8, using: &generator)
    for _ in 0..<3 { writeOptional(5, using: &generator) }
    if flag(using: &generator) {
      if flag(using: &generator) {
        for _ in 0..<7 { writeOptional(8, using: &generator) }
        if flag(using: &generator) {
          for _ in 0..<3 { writeOptional(8, using: &generator) }
        }
      }
      if flag(using: &generator) {
        write(random: 1, using: &generator)
        for _ in 0..<8 {
          for bits in [9, 7, 2, 0] { writeOptional(bits, using: &generator) }
        }
      }
    }
    // One more tile column doubles their number; each is 256 to 4,096 pixels wide.
    let superblocks = (width + 63) / 64
    var columns = 1
    while superblocks > 64 * columns { columns *= 2 }
    while superblocks >= 8 * columns, flag(using: &generator) { columns *= 2 }
    writeOptional(1, using: &generator)
    write(5, 16)
  }
}
