package import HTTPTransport
internal import Media

/// The address of a Janus server, with the layers of video to receive in its query:
/// `ws://host:8188/janus?substream=2&temporal=1`.
package struct JanusAddress: Sendable, Hashable {
  /// The address without these two parameters.
  package var url: WebSocketURL
  /// The simulcast layer, 0 to 2.
  package var substream = 2
  /// The temporal layer, 0 to 2.
  package var temporal = 2

  /// Why a text is not an address. Each description is one sentence.
  package enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case notAnAddress(WebSocketURL.ParseError)
    case invalidLayer(parameter: String, value: String)
    case repeated(String)

    package var description: String {
      switch self {
      case .notAnAddress(let error): error.description
      case .invalidLayer(let parameter, let value):
        "The parameter \(parameter) is \"\(value.printable(utf8Bytes: 40))\" instead of 0, 1 or 2."
      case .repeated(let parameter): "The parameter \(parameter) occurs more than once in the address."
      }
    }
  }

  package init(_ text: String) throws(ParseError) {
    do {
      url = try WebSocketURL(text)
    } catch {
      throw .notAnAddress(error)
    }
    let parts = url.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return }
    var others: [Substring] = []
    var layers: [String: Int] = [:]
    for parameter in parts[1].split(separator: "&", omittingEmptySubsequences: false) {
      let sides = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = sides.first.map(String.init), ["substream", "temporal"].contains(name) else {
        others.append(parameter)
        continue
      }
      let value = sides.count == 2 ? String(sides[1]) : ""
      guard let layer = ["0": 0, "1": 1, "2": 2][value] else { throw .invalidLayer(parameter: name, value: value) }
      guard layers.updateValue(layer, forKey: name) == nil else { throw .repeated(name) }
    }
    substream = layers["substream"] ?? substream
    temporal = layers["temporal"] ?? temporal
    url.target = String(parts[0]) + (others.isEmpty ? "" : "?" + others.joined(separator: "&"))
  }
}
