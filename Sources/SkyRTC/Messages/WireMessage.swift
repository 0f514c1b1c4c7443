import FoundationEssentials
internal import Signalling

/// The JSON of every message, both ways: `{"eventName": …, "data": {…}}`.
///
/// Only the parts that the protocol has are read and written again, so nothing else can pass through the server. A part
/// of an unexpected kind counts as missing.
struct WireMessage: Codable {
  var eventName: String
  var data: Payload?

  enum CodingKeys: CodingKey {
    case eventName, data
  }

  /// Every part that any message has.
  struct Payload: Codable {
    var room: Room?
    var connections: [String]?
    var you: String?
    var secret: String?
    var socketId: String?
    var sdp: Description?
    var candidate: String?
    var id: String?
    var label: Int?
    var sdpMid: String?
    var sdpMLineIndex: Int?

    enum CodingKeys: CodingKey {
      case room, connections, you, secret, socketId, sdp, candidate, id, label, sdpMid, sdpMLineIndex
    }
  }

  init(eventName: String, data: Payload?) {
    self.eventName = eventName
    self.data = data
  }

  init(eventName: String, socketID: String) {
    var data = Payload()
    data.socketId = socketID
    self.init(eventName: eventName, data: data)
  }

  /// - Parameter forOldPages: adds `sdpMid` and `sdpMLineIndex`, without which `new RTCIceCandidate(data)` throws in a
  ///   page of 2013 that runs in a browser of today.
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

  /// The protocol's messages have three levels.
  private static let maximumDepth = 8
  /// Bytes of a name or an id.
  private static let maximumName = 256

  /// - Parameter maximumValues: how many values the text may have, lest a short text take long to decode.
  init(parsing text: String, maximumValues: Int) throws(SignallingError) {
    let shape = JSONShape(text)
    guard shape.values <= maximumValues, shape.depth <= Self.maximumDepth else {
      throw .tooMuch(values: shape.values, depth: shape.depth)
    }
    // The decoder hashes names, and hashing takes long for some: see `hasRunOutsideASCII(over:)`.
    guard shape.longestName <= Self.maximumName, !shape.hasZero else { throw .notAMessage(bytes: text.utf8.count) }
    do {
      self = try JSONDecoder().decode(WireMessage.self, from: Data(text.utf8))
    } catch {
      throw .notAMessage(bytes: text.utf8.count)
    }
    // These are compared and hashed, too.
    guard eventName.utf8.count <= Self.maximumName else { throw .unknownEvent(eventName) }
    for (part, value) in [
      ("you", data?.you), ("secret", data?.secret), ("socketId", data?.socketId), ("sdp", data?.sdp?.type),
    ] where (value?.utf8.count ?? 0) > Self.maximumName { throw .unusable(event: eventName, part: part) }
    guard data?.connections?.allSatisfy({ $0.utf8.count <= Self.maximumName }) ?? true else {
      throw .unusable(event: eventName, part: "connections")
    }
  }

  var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings, whole numbers and lists of strings: there is nothing here that JSON cannot hold.
    guard let data = try? encoder.encode(self) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }

  // MARK: Parts that must be there

  func socketID() throws(SignallingError) -> String {
    guard let id = data?.socketId else { throw .unusable(event: eventName, part: "socketId") }
    return id
  }

  /// - Parameter type: what a bare SDP text is treated as.
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
  /// More than any message of the protocol has.
  case tooMuch(values: Int, depth: Int)
  /// An event that the protocol does not have, at least not in this direction.
  case unknownEvent(String)
  /// A part of an event is missing or of the wrong kind.
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
