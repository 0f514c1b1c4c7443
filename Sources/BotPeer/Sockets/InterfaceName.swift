internal import Glibc

/// The name of an interface in the form of `SO_BINDTODEVICE` (socket(7)): 16 bytes, the last of which is zero.
struct InterfaceName: Sendable {
  private var high: UInt64
  private var low: UInt64

  /// `IFNAMSIZ`, the zero included.
  private static let maximumBytes = 16

  /// - Parameter text: at most 15 bytes; more are cut off.
  init(_ text: String) {
    var bytes = Array(text.utf8.prefix(Self.maximumBytes - 1))
    bytes += Array(repeating: 0, count: Self.maximumBytes - bytes.count)
    (high, low) = bytes.withUnsafeBytes { ($0.load(as: UInt64.self), $0.load(fromByteOffset: 8, as: UInt64.self)) }
  }

  /// The bytes as text, up to the first zero.
  var text: String {
    withUnsafeBytes(of: self) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
