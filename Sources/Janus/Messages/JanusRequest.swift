import FoundationEssentials
internal import Media

/// A request of the Janus API, as the client sends it.
///
/// Source: Janus documentation, "Admin/Monitor and WebSockets interfaces" and "VideoRoom plugin".
package struct JanusRequest: Sendable, Hashable, Encodable, CustomStringConvertible {
  /// The kind of the request, for example `create`, `attach` or `message`.
  package var janus: String
  package var transaction: String
  package var sessionID: UInt64?
  package var handleID: UInt64?
  package var plugin: String?
  package var body: Body?
  package var jsep: JanusDescription?
  package var candidate: JanusCandidate?
  /// The API secret of the server. Never log it.
  package var apiSecret: String?
  /// The token of the server's token authentication. Never log it.
  package var token: String?

  private enum CodingKeys: String, CodingKey {
    case janus, transaction, plugin, body, jsep, candidate, token
    case sessionID = "session_id"
    case handleID = "handle_id"
    case apiSecret = "apisecret"
  }

  package init(_ janus: String) {
    self.janus = janus
    transaction = ""
  }

  /// The body of a request to the VideoRoom plugin. All fields of all requests.
  package struct Body: Sendable, Hashable, Encodable, CustomStringConvertible {
    package var request: String
    package var ptype: String?
    package var room: JanusID?
    package var display: String?
    package var pin: String?
    package var token: String?
    package var privateID: UInt64?
    package var feed: JanusID?
    package var streams: [Stream]?
    package var subscribe: [Stream]?
    package var audiocodec: String?
    package var videocodec: String?
    package var substream: Int?
    package var temporal: Int?
    /// Whether the server is to offer again with new ICE credentials.
    package var restart: Bool?

    private enum CodingKeys: String, CodingKey {
      case request, ptype, room, display, pin, token, feed, streams, subscribe, audiocodec, videocodec
      case substream, temporal, restart
      case privateID = "private_id"
    }

    package init(_ request: String) {
      self.request = request
    }

    /// Without the PIN and the token.
    package var description: String { "The request \"\(request)\" to the VideoRoom plugin" }
  }

  /// A stream in the body: of a feed to subscribe to, or of a subscription to configure.
  package struct Stream: Sendable, Hashable, Encodable {
    package var feed: JanusID?
    package var mid: String?
    /// The simulcast layer, 0 to 2.
    package var substream: Int?
    /// The temporal layer, 0 to 2.
    package var temporal: Int?

    package init(feed: JanusID? = nil, mid: String? = nil, substream: Int? = nil, temporal: Int? = nil) {
      self.feed = feed
      self.mid = mid
      self.substream = substream
      self.temporal = temporal
    }
  }

  /// Without the secret and the token.
  package var description: String { "The request \"\(body?.request ?? janus)\" to Janus" }

  /// The request in JSON.
  package var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // The fields are strings and integers, which JSON can always express.
    guard let data = try? encoder.encode(self) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }
}

/// A session description in a message (`jsep`).
package struct JanusDescription: Sendable, Hashable, Codable {
  /// `offer` or `answer`.
  package var type: String
  package var sdp: String

  package init(type: String, sdp: String) {
    self.type = type
    self.sdp = sdp
  }

  private enum CodingKeys: CodingKey {
    case type, sdp
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    type = try fields.decode(ASCIIText.self, forKey: .type).string
    sdp = try fields.decode(UntrustedText.self, forKey: .sdp).string
  }
}
