import FoundationEssentials
import JSON
import Media
internal import Signalling

/// The JSON of every message in both directions: `{"eventName": …, "data": {…}}`.
///
/// Only the fields of the protocol are read and written, so that no other data passes through the server. A field of an
/// unexpected type counts as missing.
struct WireMessage: Codable {
  var eventName: String
  var data: Payload?

  enum CodingKeys: CodingKey {
    case eventName, data
  }

  /// All fields of all messages.
  struct Payload: Codable {
    var room: Room?
    var connections: [String]?
    var you: String?
    var secret: String?
    var name: String?
    var records: Bool?
    var participants: [Participant]?
    var iceServers: SignalledICEServers?
    var socketId: String?
    var sdp: Description?
    var candidate: String?
    var id: String?
    var label: Int?
    var sdpMid: String?
    var sdpMLineIndex: Int?

    enum CodingKeys: CodingKey {
      case room, connections, you, secret, name, records, participants, iceServers, socketId, sdp, candidate, id, label
      case sdpMid, sdpMLineIndex
    }
  }

  /// What `_peers` says of one of its `connections`.
  struct Participant: Codable {
    var socketId: String?
    var name: String?
    var records: Bool?

    enum CodingKeys: CodingKey {
      case socketId, name, records
    }
  }

  init(eventName: String, data: Payload?) {
    self.eventName = eventName
    self.data = data
  }

  init(eventName: String, socketID: String, profile: ParticipantProfile = ParticipantProfile()) {
    var data = Payload()
    data.socketId = socketID
    data.profile = profile
    self.init(eventName: eventName, data: data)
  }

  /// - Parameter forOldPages: adds `sdpMid` and `sdpMLineIndex`, without which `new RTCIceCandidate(data)` of a page
  ///   from 2013 throws in a current browser.
  init(prefix: String, signal: RelayedMessage, socketID: String, forOldPages: Bool = false) {
    var data = Payload()
    data.socketId = socketID
    let name: String
    switch signal {
    case .offer(let description):
      name = "offer"
      data.sdp = Description(description)
    case .answer(let description):
      name = "answer"
      data.sdp = Description(description)
    case .candidate(let candidate):
      name = "ice_candidate"
      data.candidate = candidate.candidate
      data.id = candidate.mid
      data.label = candidate.mLineIndex
      if forOldPages {
        data.sdpMid = candidate.mid
        data.sdpMLineIndex = candidate.mLineIndex
      }
    }
    self.init(eventName: prefix + name, data: data)
  }

  /// The messages of the protocol have three levels.
  private static let maximumDepth = 8
  /// The maximum size of a name or an id in bytes.
  private static let maximumName = 256

  /// Parses a message.
  ///
  /// - Parameter maximumValues: the number of values allowed in the text, so that a short text cannot take long to
  ///   decode.
  init(parsing text: String, maximumValues: Int) throws(SignallingError) {
    let limits = JSONLimits(values: maximumValues, depth: Self.maximumDepth, nameBytes: Self.maximumName)
    do {
      self = try JSONReader.decode(WireMessage.self, from: text, within: limits)
    } catch {
      switch error {
      case .tooMuch(let values, let depth): throw .tooMuch(values: values, depth: depth)
      case .tooLarge(let bytes, _), .invalid(let bytes): throw .notAMessage(bytes: bytes)
      }
    }
    // These strings are compared and hashed, so they must be short and ASCII.
    func isUsable(_ text: String) -> Bool { text.utf8.count <= Self.maximumName && text.utf8.allSatisfy { $0 < 0x80 } }
    guard eventName.utf8.count <= Self.maximumName else { throw .unknownEvent(eventName) }
    for (part, value) in [
      ("you", data?.you), ("secret", data?.secret), ("socketId", data?.socketId), ("sdp", data?.sdp?.type),
    ] where !(value.map(isUsable) ?? true) { throw .unusable(event: eventName, part: part) }
    guard data?.connections?.allSatisfy(isUsable) ?? true else {
      throw .unusable(event: eventName, part: "connections")
    }
    // A participant without a usable profile is one without a name.
    data?.participants?.removeAll { !($0.socketId.map(isUsable) ?? false) }
  }

  var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // The fields are strings, integers and lists of them, which JSON can always express.
    guard let data = try? encoder.encode(self) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }

  // MARK: Required fields

  func socketID() throws(SignallingError) -> String {
    guard let id = data?.socketId else { throw .unusable(event: eventName, part: "socketId") }
    return id
  }

  /// - Parameter type: the type of a description that is a bare SDP string.
  func description(otherwise type: String) throws(SignallingError) -> SignalledDescription {
    guard let sdp = data?.sdp else { throw .unusable(event: eventName, part: "sdp") }
    return SignalledDescription(type: sdp.type ?? type, sdp: sdp.sdp)
  }

  func candidate() throws(SignallingError) -> TrickledCandidate {
    guard let data, let candidate = data.candidate else { throw .unusable(event: eventName, part: "candidate") }
    return TrickledCandidate(
      candidate: candidate, mid: data.id ?? data.sdpMid, mLineIndex: data.label ?? data.sdpMLineIndex)
  }
}

/// Why a text is not a message of the SkyRTC protocol.
package enum SignallingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Not JSON, or not an object with an `eventName`.
  case notAMessage(bytes: Int)
  /// More values or levels than any message of the protocol has.
  case tooMuch(values: Int, depth: Int)
  /// An event that the protocol does not have in this direction.
  case unknownEvent(String)
  /// A field of an event is missing or has the wrong type.
  case unusable(event: String, part: String)

  package var description: String {
    switch self {
    case .notAMessage(let bytes):
      "A message of \(bytes) bytes is not a JSON object with an eventName."
    case .tooMuch(let values, let depth):
      "A message has \(values) values in \(depth) levels, more than the protocol needs."
    case .unknownEvent(let name):
      "There is no event \"\(name.printable(utf8Bytes: 40))\" in this direction."
    case .unusable(let event, let part):
      "The \(part) of an \(event) is missing or of the wrong kind."
    }
  }
}
