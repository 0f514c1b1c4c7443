import Media

/// All fields of all messages of the page in JSON. Unknown fields are ignored; a field of an unexpected type counts as
/// missing.
struct DataMessageWire: Decodable {
  var type: UntrustedText?
  var signal: UntrustedText?
  var name: UntrustedText?
  var size: Int64?
  var sendID: UntrustedText?
  var isLast: Bool?
  var percent: Double?
  var isBinary: Bool
  /// A string; the page shows numbers and booleans too, as their text.
  var data: UntrustedText?

  private enum CodingKeys: String, CodingKey {
    case type, signal, name, size, last, percent, binary, data
    case sendID = "sendId"
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func value<Value: Decodable>(_ key: CodingKeys, _ type: Value.Type = Value.self) -> Value? {
      try? fields.decodeIfPresent(type, forKey: key)
    }
    type = value(.type)
    signal = value(.signal)
    name = value(.name)
    size = value(.size) ?? value(.size, Double.self).flatMap { Int64(exactly: $0) }
    sendID = value(.sendID)
    // The page tests whether the value is true in the sense of JavaScript.
    isLast = value(.last) ?? value(.last, Double.self).map { $0 != 0 }
    percent = value(.percent)
    isBinary = value(.binary) ?? value(.binary, Double.self).map { $0 != 0 } ?? false
    if let text = value(.data, UntrustedText.self) {
      data = text
    } else if let flag = value(.data, Bool.self) {
      data = UntrustedText("\(flag)")
    } else {
      data = value(.data, Double.self).map { UntrustedText(JSONText.number($0)) }
    }
  }
}
