import NIOCore

/// A reader of the bits of a NAL unit, the most significant bit of each byte first. It leaves out emulation prevention bytes
/// (ITU-T H.264, 7.3.1; ITU-T H.265, 7.3.1.1).
struct NALUnitBitReader {
  private let unit: ByteBuffer
  private let part: String
  /// The index of the next byte in `unit`.
  private var index: Int
  /// The number of bytes of value 0 before the next byte, at most 2.
  private var zeros = 0
  private var current: UInt8 = 0
  /// The bits of `current` that have not been read.
  private var available = 0

  /// Starts after the header of a NAL unit.
  ///
  /// - Parameters:
  ///   - headerSize: the bytes of the header: 1 in H.264, 2 in H.265.
  ///   - part: what an error says of the unit.
  init(_ unit: ByteBuffer, headerSize: Int = 1, part: String) {
    self.unit = unit
    self.part = part
    index = unit.readerIndex + headerSize
  }

  /// Reads a number of up to 32 bits: u(n).
  mutating func read(_ count: Int) throws(ParseError) -> UInt32 {
    var value: UInt64 = 0
    var missing = min(count, 32)
    while missing > 0 {
      if available == 0 { try advance() }
      let taken = min(available, missing)
      let bits = UInt64(current) >> UInt64(available - taken) & (1 << UInt64(taken) - 1)
      value = value << UInt64(taken) | bits
      available -= taken
      missing -= taken
    }
    return UInt32(truncatingIfNeeded: value)
  }

  mutating func flag() throws(ParseError) -> Bool { try read(1) == 1 }

  mutating func skip(_ count: Int) throws(ParseError) {
    var missing = count
    while missing > 0 {
      _ = try read(min(missing, 32))
      missing -= 32
    }
  }

  /// Reads an Exp-Golomb code, at most 2^32 - 2: ue(v) (ITU-T H.264, 9.1; ITU-T H.265, 9.2).
  mutating func code() throws(ParseError) -> UInt32 {
    var zeros = 0
    while try !flag() {
      zeros += 1
      guard zeros < 32 else {
        throw .wrongValue("An Exp-Golomb code in \(part.lowercasedFirst)", expected: "of at most 32 bits", found: 33)
      }
    }
    guard zeros > 0 else { return 0 }
    return (1 << UInt32(zeros) - 1) + (try read(zeros))
  }

  /// Reads an Exp-Golomb code up to `maximum`; `name` is what an error calls it.
  mutating func code(_ name: String, upTo maximum: UInt32) throws(ParseError) -> Int {
    let value = try code()
    guard value <= maximum else {
      throw .wrongValue("\(part)'s \(name)", expected: "at most \(maximum)", found: Int(value))
    }
    return Int(value)
  }

  /// Reads a signed Exp-Golomb code: se(v) (ITU-T H.264, 9.1.1).
  mutating func signedCode() throws(ParseError) -> Int {
    let code = Int(try code())
    return code & 1 == 1 ? (code + 1) / 2 : -(code / 2)
  }

  /// Reads a signed Exp-Golomb code of 32 bits.
  mutating func signedCode32() throws(ParseError) -> Int32 { Int32(clamping: try signedCode()) }

  private mutating func advance() throws(ParseError) {
    if zeros == 2, unit.getInteger(at: index, as: UInt8.self) == 3 {
      index += 1
      zeros = 0
    }
    guard let byte = unit.getInteger(at: index, as: UInt8.self) else {
      throw .tooShort(part, needs: index - unit.readerIndex + 1, found: unit.readableBytes)
    }
    index += 1
    zeros = byte == 0 ? min(zeros + 1, 2) : 0
    current = byte
    available = 8
  }
}

extension String {
  /// The text as it stands within a sentence.
  fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
