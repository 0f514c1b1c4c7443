package import FoundationEssentials
internal import JSON

/// Divides what comes from a control socket into lines: bytes in, lines out.
package struct ControlLineReader: Sendable {
  private var rest: [UInt8] = []

  package init() {}

  /// Takes bytes of a stream.
  ///
  /// - Returns: the lines that are complete now, without their ends and without empty ones.
  /// - Throws: ``ControlLineError/tooLong``; the connection is to be closed then.
  package mutating func read(_ bytes: some Sequence<UInt8>) throws(ControlLineError) -> [Data] {
    // What was there before has no end of a line.
    var searched = rest.count
    rest.append(contentsOf: bytes)
    var lines: [Data] = []
    var start = 0
    while let end = rest[searched...].firstIndex(of: UInt8(ascii: "\n")) {
      searched = end + 1
      guard end - start <= ControlLine.maximumBytes else { throw .tooLong }
      if end > start { lines.append(Data(rest[start..<end])) }
      start = end + 1
    }
    rest.removeFirst(start)
    guard rest.count <= ControlLine.maximumBytes else { throw .tooLong }
    return lines
  }
}

/// A line of a control socket.
package enum ControlLine {
  /// The maximum length in bytes, without the line's end.
  package static let maximumBytes = 65_536
  private static let limits = JSONLimits(bytes: maximumBytes, values: 10_000, depth: 6, nameBytes: 64)

  static func decode<Value: Decodable>(_ type: Value.Type, from line: some DataProtocol) throws(ControlLineError)
    -> Value
  {
    do {
      return try JSONReader.decode(type, from: Data(line), within: limits)
    } catch {
      switch error {
      case .tooLarge: throw .tooLong
      case .tooMuch, .invalid: throw .invalid
      }
    }
  }
}

/// Why a line of a control socket cannot be used.
package enum ControlLineError: Error, Sendable, Hashable, CustomStringConvertible {
  case tooLong
  case invalid

  package var description: String {
    switch self {
    case .tooLong: "A line of the control socket has more than \(ControlLine.maximumBytes) bytes."
    case .invalid: "A line of the control socket is not the JSON of a message."
    }
  }
}
