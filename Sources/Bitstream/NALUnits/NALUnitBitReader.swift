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
  /// The bits that have been loaded and not read, from the highest one on; those after them are 0.
  private var window: UInt64 = 0
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
    let count = min(max(count, 0), 32)
    if available < count {
      load()
      guard available >= count else { throw missingByte }
    }
    return take(count)
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
    repeat {
      if available == 0 {
        load()
        guard available > 0 else { throw missingByte }
      }
      let run = min(window.leadingZeroBitCount, available)
      zeros += run
      guard zeros < 32 else {
        throw .wrongValue("An Exp-Golomb code in \(part.lowercasedFirst)", expected: "of at most 32 bits", found: 33)
      }
      _ = take(run)
      // All loaded bits were 0.
    } while available == 0
    _ = take(1)
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

  /// Removes loaded bits, at most 32 and no more than there are.
  private mutating func take(_ count: Int) -> UInt32 {
    let value = UInt32(truncatingIfNeeded: window >> UInt64(64 - count))
    window <<= UInt64(count)
    available -= count
    return value
  }

  /// Loads at least 57 bits, or all that are left.
  private mutating func load() {
    let start = unit.readerIndex
    var (next, zeros, window, available) = (index - start, zeros, window, available)
    unit.withUnsafeReadableBytes { bytes in
      while available <= 56, next < bytes.count {
        let byte = bytes[next]
        next += 1
        if zeros == 2, byte == 3 {
          zeros = 0
          continue
        }
        zeros = byte == 0 ? min(zeros + 1, 2) : 0
        window |= UInt64(byte) << UInt64(56 - available)
        available += 8
      }
    }
    (index, self.zeros, self.window, self.available) = (next + start, zeros, window, available)
  }

  private var missingByte: ParseError {
    .tooShort(part, needs: index - unit.readerIndex + 1, found: unit.readableBytes)
  }
}

extension String {
  /// The text as it stands within a sentence.
  fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}
