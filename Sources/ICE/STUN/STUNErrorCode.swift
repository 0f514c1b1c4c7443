package import NIOCore

/// The value of an ERROR-CODE attribute (RFC 8489, 14.8).
package struct STUNErrorCode: Sendable, Hashable, CustomStringConvertible {
  /// 300 to 699.
  package var code: Int
  package var reason: String

  package init(_ code: Int, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  /// The request has unknown comprehension-required attributes (RFC 8489, 14.8).
  package static let unknownAttribute = STUNErrorCode(420, "Unknown Attribute")
  /// Both sides have the same role (RFC 8445, 7.3.1.1).
  package static let roleConflict = STUNErrorCode(487, "Role Conflict")

  package init?(parsing value: ByteBuffer) {
    var value = value
    guard let (_, hundreds, rest) = value.readMultipleIntegers(as: (UInt16, UInt8, UInt8).self) else { return nil }
    let family = Int(hundreds & 7)
    guard (3...6).contains(family), rest < 100 else { return nil }
    code = family * 100 + Int(rest)
    reason = String(buffer: value)
  }

  /// The encoded attribute value.
  var value: ByteBuffer {
    var value = ByteBuffer()
    let held = min(max(code, 300), 699)
    value.writeMultipleIntegers(0 as UInt16, UInt8(held / 100), UInt8(held % 100))
    value.writeString(reason)
    return value
  }

  package var description: String { "\(code) \(reason)" }
}
