/// A declared metric: its name, type and help text in the exposition.
///
/// swift-metrics has labels and dimensions only. A declaration adds what Prometheus shows to people, and the buckets of a histogram.
package struct MetricFamily: Sendable, Hashable {
  package enum Kind: String, Sendable {
    case counter, gauge, histogram
  }

  package let name: String
  package let kind: Kind
  package let help: String
  /// The upper bounds of a histogram's buckets in ascending order, without infinity.
  package let buckets: [Double]

  package init(_ name: String, _ kind: Kind, _ help: String, buckets: [Double] = Self.times) {
    self.name = name
    self.kind = kind
    self.help = help
    self.buckets = kind == .histogram ? buckets : []
  }

  /// Bounds in seconds from 1 ms to 10 s.
  package static let times = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

  /// Returns a name of letters, digits, `_` and `:` that does not begin with a digit (the format 0.0.4).
  static func validName(_ label: String) -> String { valid(label, allowing: [UInt8(ascii: "_"), UInt8(ascii: ":")]) }
  /// Returns a name of letters, digits and `_`. Names that begin with `__` are those of Prometheus itself.
  static func validLabelName(_ label: String) -> String {
    let name = valid(label, allowing: [UInt8(ascii: "_")])
    return name.utf8.starts(with: "__".utf8) ? "label" + name : name
  }

  private static func valid(_ label: String, allowing: [UInt8]) -> String {
    var bytes: [UInt8] = []
    for byte in label.utf8.prefix(200) {
      let isDigit = (0x30...0x39).contains(byte)
      let isAllowed = isDigit || (0x41...0x5A).contains(byte & 0xDF) && byte < 0x80 || allowing.contains(byte)
      if bytes.isEmpty, isDigit { bytes.append(UInt8(ascii: "_")) }
      bytes.append(isAllowed ? byte : UInt8(ascii: "_"))
    }
    return bytes.isEmpty ? "_" : String(decoding: bytes, as: UTF8.self)
  }
}
