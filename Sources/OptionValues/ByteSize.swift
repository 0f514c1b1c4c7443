/// A number of bytes as written on the command line: a whole number with a unit, like `500MB` or `2GiB`.
package struct ByteSize: Sendable, Hashable, CustomStringConvertible {
  package let bytes: Int64

  /// Larger units first, so that a size is printed in the largest unit of which it is a multiple.
  private static let units: [(name: String, bytes: Int64)] = [
    ("GiB", 1 << 30), ("GB", 1_000_000_000), ("MiB", 1 << 20), ("MB", 1_000_000), ("KiB", 1 << 10), ("kB", 1_000),
  ]

  package init(bytes: Int64) {
    self.bytes = bytes
  }

  /// - Returns: nil if the text does not end in a unit of size.
  package init?(_ text: String) throws(ParseError) {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let name = text.dropFirst(digits.count).lowercased()
    guard let unit = Self.units.first(where: { $0.name.lowercased() == name }) else { return nil }
    guard let count = Int64(digits) else { throw .noNumber }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: unit.bytes)
    guard !overflow else { throw .tooLarge }
    self.bytes = bytes
  }

  /// The size in a form that can be parsed again.
  package var description: String {
    for unit in Self.units where bytes.isMultiple(of: unit.bytes) { return "\(bytes / unit.bytes)\(unit.name)" }
    return "\(bytes / 1_000)kB"
  }

  /// Why a text with a unit of size is not a size.
  package enum ParseError: Error, Hashable {
    case noNumber
    case tooLarge
  }
}

extension ByteSize {
  /// Parses the size of a file, which without a unit is in bytes. For `transform:`, as `Bitrate.parse`.
  @Sendable package static func parseFileSize(_ text: String) throws -> ByteSize {
    do throws(ParseError) {
      let digits = text.lowercased().hasSuffix("b") ? text.dropLast() : text[...]
      if let size = try ByteSize(text) ?? Int64(digits).map({ ByteSize(bytes: $0) }), size.bytes > 0 {
        guard size.bytes <= 1 << 50 else { throw .tooLarge }
        return size
      }
    } catch .tooLarge {
      throw FileSizeError.tooLarge(text)
    } catch {}
    throw FileSizeError.noSize(text)
  }

  /// Why a text is not the size of a file.
  package enum FileSizeError: Error, Hashable, CustomStringConvertible {
    case noSize(String)
    case tooLarge(String)

    package var description: String {
      switch self {
      case .noSize(let text): "A size is a number with a unit, such as 500kB, 100MB or 2GB, not \(text)."
      case .tooLarge(let text): "The size \(text) is too large."
      }
    }
  }
}

/// The memory for queued frames, as written on the command line: a size between 1 MiB and 64 GiB.
package struct QueueMemory: Sendable, Hashable, CustomStringConvertible {
  package let size: ByteSize

  private static let range: ClosedRange<Int64> = (1 << 20)...(64 << 30)

  package init(_ text: String) throws(ParseError) {
    guard let size = try? ByteSize(text), Self.range.contains(size.bytes) else { throw .outOfRange(text) }
    self.size = size
  }

  package var description: String { size.description }

  /// For `transform:`, whose errors ArgumentParser prints as they are.
  @Sendable package static func parse(_ text: String) throws -> QueueMemory { try QueueMemory(text) }

  /// Why a text is no size of that memory.
  package enum ParseError: Error, Hashable, CustomStringConvertible {
    case outOfRange(String)

    package var description: String {
      switch self {
      case .outOfRange(let text): "The memory is a size between 1MiB and 64GiB, like 512MiB or 2GB, not \"\(text)\"."
      }
    }
  }
}
