import Bitstream
import NIOCore
import Testing

@Suite("Exp-Golomb codes")
struct ExpGolombTests {
  /// Up to 2^32 - 2, of 1 to 63 bits.
  static let values: [UInt32] = {
    var values: [UInt32] = [0, 1, 2, 6, 254, .max - 1]
    for bits in 8..<32 {
      let power: UInt32 = 1 << UInt32(bits)
      values += [power - 2, power - 1]
    }
    return values
  }()

  @Test("a code of any length is read, and so is what follows it", arguments: values)
  func lengths(value: UInt32) throws {
    let header = try H264SliceHeader(parsing: Self.slice(first: value))
    #expect(header.firstMacroblock == value)
    #expect(header.sliceType == 7)
    #expect(header.pictureParameterSetID == 255)
  }

  @Test("a code that is cut off is rejected", arguments: values)
  func cutOff(value: UInt32) {
    let whole = Self.slice(first: value)
    for count in 0..<whole.readableBytes {
      let part = whole.getSlice(at: 0, length: count) ?? ByteBuffer()
      #expect(throws: ParseError.self) { try H264SliceHeader(parsing: part) }
    }
  }

  @Test("a code of more than 32 bits is rejected")
  func tooLong() {
    for zeros in [32, 33, 64, 500] {
      let unit = Self.unit(String(repeating: "0", count: zeros) + String(repeating: "1", count: 80))
      #expect(throws: ParseError.self) { try H264SliceHeader(parsing: unit) }
    }
  }

  /// A slice that ends with the last bit of its picture parameter set's id, or with up to seven bits more.
  private static func slice(first: UInt32) -> ByteBuffer { unit(code(first) + code(7) + code(255)) }

  private static func code(_ value: UInt32) -> String {
    let digits = String(UInt64(value) + 1, radix: 2)
    return String(repeating: "0", count: digits.utf8.count - 1) + digits
  }

  /// A NAL unit of type 1 with bits, with its emulation prevention bytes (ITU-T H.264, 7.4.1.1).
  private static func unit(_ bits: String) -> ByteBuffer {
    var unit = ByteBuffer(bytes: [0x41])
    var rest = Substring(bits + String(repeating: "1", count: (8 - bits.utf8.count % 8) % 8))
    var zeros = 0
    while let byte = UInt8(rest.prefix(8), radix: 2) {
      rest = rest.dropFirst(8)
      if zeros == 2, byte <= 3 {
        unit.writeInteger(3 as UInt8)
        zeros = 0
      }
      unit.writeInteger(byte)
      zeros = byte == 0 ? zeros + 1 : 0
    }
    return unit
  }
}
