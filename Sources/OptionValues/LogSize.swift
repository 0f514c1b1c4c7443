/// The size of a full log file, as written on the command line: between 10 kB and 1 TB.
package struct LogSize: Sendable, Hashable {
  package let bytes: Int64

  private static let range: ClosedRange<Int64> = 10_000...1_000_000_000_000

  package init(_ text: String) throws(ParseError) {
    guard let size = try? ByteSize(text), Self.range.contains(size.bytes) else { throw ParseError() }
    bytes = size.bytes
  }

  /// For `transform:`, whose errors ArgumentParser prints as they are.
  @Sendable package static func parse(_ text: String) throws -> LogSize { try LogSize(text) }

  /// Why a text is no size of a log file.
  package struct ParseError: Error, Hashable, CustomStringConvertible {
    package var description: String { "--log-size is a size from 10kB to 1TB, like 500kB or 10MB." }
  }
}
