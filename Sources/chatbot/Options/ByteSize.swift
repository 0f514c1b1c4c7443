/// A number of bytes as written on the command line: a whole number with a unit, like `500MB` or `2GiB`.
struct ByteSize: Sendable, Hashable, CustomStringConvertible {
  let bytes: Int64

  /// Larger units first, so that a size is printed in the largest unit of which it is a multiple.
  private static let units: [(name: String, bytes: Int64)] = [
    ("GiB", 1 << 30), ("GB", 1_000_000_000), ("MiB", 1 << 20), ("MB", 1_000_000), ("KiB", 1 << 10), ("kB", 1_000),
  ]

  init(bytes: Int64) {
    self.bytes = bytes
  }

  /// - Returns: nil if the text does not end in a unit of size.
  init?(_ text: String) throws(ParseError) {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let name = text.dropFirst(digits.count).lowercased()
    guard let unit = Self.units.first(where: { $0.name.lowercased() == name }) else { return nil }
    guard let count = Int64(digits) else { throw .noNumber }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: unit.bytes)
    guard !overflow else { throw .tooLarge }
    self.bytes = bytes
  }

  /// The size in a form that can be parsed again.
  var description: String {
    for unit in Self.units where bytes.isMultiple(of: unit.bytes) { return "\(bytes / unit.bytes)\(unit.name)" }
    return "\(bytes / 1_000)kB"
  }

  /// Why a text with a unit of size is not a size.
  enum ParseError: Error, Hashable {
    case noNumber
    case tooLarge
  }
}

/// The memory for queued frames, as written on the command line: a size between 1 MiB and 64 GiB.
struct QueueMemory: Sendable, Hashable, CustomStringConvertible {
  let size: ByteSize

  private static let range: ClosedRange<Int64> = (1 << 20)...(64 << 30)

  init(_ text: String) throws(ParseError) {
    guard let size = try? ByteSize(text), Self.range.contains(size.bytes) else { throw .outOfRange(text) }
    self.size = size
  }

  var description: String { size.description }

  /// For `transform:`, whose errors ArgumentParser prints as they are.
  @Sendable static func parse(_ text: String) throws -> QueueMemory { try QueueMemory(text) }

  /// Why a text is no size of that memory.
  enum ParseError: Error, Hashable, CustomStringConvertible {
    case outOfRange(String)

    var description: String {
      switch self {
      case .outOfRange(let text): "The memory is a size between 1MiB and 64GiB, like 512MiB or 2GB, not \"\(text)\"."
      }
    }
  }
}
