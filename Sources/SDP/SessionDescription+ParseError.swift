extension SessionDescription {
  /// Why a text is not a session description.
  package enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case empty
    case tooLong(bytes: Int)
    /// Lines are counted from 1.
    case notALine(number: Int)
    case unknownVersion(String)
    case badMediaLine(number: Int)
    case tooManySections
    case lineTooLong(number: Int, bytes: Int)
    case notASCII(number: Int)
    /// The line of that number is one more than is read.
    case tooMany(String, limit: Int, number: Int)

    package var description: String {
      switch self {
      case .empty:
        "The SDP is empty."
      case .tooLong(let bytes):
        "The SDP has \(bytes) bytes, but at most \(SessionDescription.maximumLength) are read."
      case .notALine(number: 1):
        "This is no SDP: its first line is not \"v=0\"."
      case .notALine(let number):
        "Line \(number) of the SDP is not of the form \"x=value\"."
      case .unknownVersion(let version):
        "The SDP has version \"\(version.prefix(20))\", but only version 0 exists."
      case .badMediaLine(let number):
        "Line \(number) of the SDP begins a media section, but lacks a kind, a port, a protocol or a format."
      case .tooManySections:
        "The SDP has more than \(SessionDescription.maximumSections) media sections."
      case .lineTooLong(let number, let bytes):
        "Line \(number) of the SDP has \(bytes) bytes, but at most \(SessionDescription.maximumLineLength) are read."
      case .notASCII(let number):
        "Line \(number) of the SDP has more than \(SessionDescription.maximumRunOutsideASCII) bytes in a row that are not ASCII."
      case .tooMany(let what, let limit, let number):
        "The SDP has more than \(limit) \(what), see line \(number)."
      }
    }
  }
}
