internal import CPostgreSQL

/// The parameters of a statement as libpq takes them: texts in the text format, bytes in the binary one.
struct PostgreSQLParameters {
  /// The types of the server (`pg_type.oid`).
  enum ObjectID {
    static let boolean: Oid = 16
    static let bytes: Oid = 17
    static let integer8: Oid = 20
    static let integer2: Oid = 21
    static let integer4: Oid = 23
    static let text: Oid = 25
    static let identifier: Oid = 26
    static let real4: Oid = 700
    static let real8: Oid = 701
    static let numeric: Oid = 1_700
    /// The server finds the type by the place of the parameter.
    static let unknown: Oid = 0
  }

  private var types: [Oid] = []
  private var lengths: [Int32] = []
  private var formats: [Int32] = []
  /// The values, each with a zero byte after it.
  private var bytes: [CChar] = []
  /// Where the values begin; nil for NULL.
  private var starts: [Int?] = []

  init(_ values: [SQLValue]) {
    for value in values {
      switch value {
      case .null: append(ObjectID.unknown, nil)
      case .integer(let number): append(ObjectID.integer8, Array("\(number)".utf8))
      case .real(let number): append(ObjectID.real8, Array(Self.text(of: number).utf8))
      case .text(let text):
        // PostgreSQL has no texts with U+0000: a replacement character stands for it.
        append(ObjectID.text, text.utf8.contains(0) ? Self.withoutZeros(text) : Array(text.utf8))
      case .blob(let blob): append(ObjectID.bytes, blob, isBinary: true)
      }
    }
  }

  private mutating func append(_ type: Oid, _ value: [UInt8]?, isBinary: Bool = false) {
    types.append(type)
    formats.append(isBinary ? 1 : 0)
    lengths.append(Int32(clamping: value?.count ?? 0))
    starts.append(value == nil ? nil : bytes.count)
    guard let value else { return }
    bytes.append(contentsOf: value.lazy.map { CChar(bitPattern: $0) })
    bytes.append(0)
  }

  private static func withoutZeros(_ text: String) -> [UInt8] {
    var result: [UInt8] = []
    for byte in text.utf8 {
      if byte == 0 { result += "\u{FFFD}".utf8 } else { result.append(byte) }
    }
    return result
  }

  private static func text(of number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
    return "\(number)"
  }

  func withPointers<Result>(
    _ body: (
      UnsafePointer<Oid>?, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
    ) -> Result
  ) -> Result {
    bytes.withUnsafeBufferPointer { bytes in
      let pointers = starts.map { start in start.flatMap { offset in bytes.baseAddress.map { $0 + offset } } }
      return pointers.withUnsafeBufferPointer { pointers in
        types.withUnsafeBufferPointer { types in
          lengths.withUnsafeBufferPointer { lengths in
            formats.withUnsafeBufferPointer { formats in
              body(types.baseAddress, pointers.baseAddress, lengths.baseAddress, formats.baseAddress)
            }
          }
        }
      }
    }
  }
}
