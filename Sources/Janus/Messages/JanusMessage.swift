import JSON
import Media

/// A message of the server: a response to a request, or an event of the session or of one of its handles.
package enum JanusMessage: Sendable, Hashable {
  /// The request was accepted; its result follows in an event.
  case ack(transaction: String)
  /// - Parameter id: the id of the session or handle that the request created.
  case success(transaction: String, id: UInt64?)
  /// - Parameter transaction: nil if the server could not read the request.
  case error(JanusError, transaction: String?)
  /// An event of the VideoRoom plugin, or its synchronous response.
  case plugin(VideoRoomEvent, handle: UInt64, transaction: String?, description: JanusDescription?)
  case trickle(JanusCandidate, handle: UInt64)
  /// The WebRTC connection of a handle is established.
  case connected(handle: UInt64)
  /// The WebRTC connection of a handle has ended.
  case hangup(handle: UInt64, reason: String)
  /// Media of a publisher begins or stops to arrive at the server.
  case media(handle: UInt64, type: String, isReceived: Bool)
  /// The server sees much loss; `isUplink` is true for what it receives from us.
  case slowLink(handle: UInt64, isUplink: Bool, lost: Int)
  /// A handle was released.
  case detached(handle: UInt64)
  /// The session has expired.
  case timeout(session: UInt64?)
  /// A kind of message that has no meaning for this client.
  case other(String)

  /// The maximum size of a message in bytes.
  package static let maximumBytes = 256 * 1024
  /// The number of values in a message: 256 participants with some streams each.
  private static let maximumValues = 32_768
  private static let maximumDepth = 16
  private static let maximumName = 256

  /// Why a text is not a message of Janus.
  package enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case tooLarge(bytes: Int)
    case tooMuch(values: Int, depth: Int)
    /// Not JSON, or not an object with `janus`.
    case notAMessage(bytes: Int)
    case missing(field: String, of: String)

    package var description: String {
      switch self {
      case .tooLarge(let bytes):
        "A message has \(bytes) bytes, but at most \(JanusMessage.maximumBytes) are read."
      case .tooMuch(let values, let depth):
        "A message has \(values) values in \(depth) levels, more than Janus needs."
      case .notAMessage(let bytes):
        "A message of \(bytes) bytes is not a JSON object with \"janus\"."
      case .missing(let field, let kind):
        "A message of the kind \"\(kind.printable(utf8Bytes: 40))\" lacks a usable \(field)."
      }
    }
  }

  package init(parsing text: String) throws(ParseError) {
    let limits = JSONLimits(
      bytes: Self.maximumBytes, values: Self.maximumValues, depth: Self.maximumDepth, nameBytes: Self.maximumName)
    let wire: JanusWire
    do {
      wire = try JSONReader.decode(JanusWire.self, from: text, within: limits)
    } catch {
      switch error {
      case .tooLarge(let bytes, _): throw .tooLarge(bytes: bytes)
      case .tooMuch(let values, let depth): throw .tooMuch(values: values, depth: depth)
      case .invalid(let bytes): throw .notAMessage(bytes: bytes)
      }
    }
    try self.init(wire)
  }

  private init(_ wire: JanusWire) throws(ParseError) {
    func sender() throws(ParseError) -> UInt64 {
      guard let sender = wire.sender else { throw .missing(field: "sender", of: wire.janus) }
      return sender
    }
    func transaction() throws(ParseError) -> String {
      guard let transaction = wire.transaction else { throw .missing(field: "transaction", of: wire.janus) }
      return transaction
    }
    switch wire.janus {
    case "ack":
      self = .ack(transaction: try transaction())
    case "success" where wire.plugin == nil:
      self = .success(transaction: try transaction(), id: wire.createdID)
    case "success", "event":
      guard let data = wire.plugin?.data else { throw .missing(field: "plugindata", of: wire.janus) }
      self = .plugin(
        VideoRoomEvent(data, isResponse: wire.transaction != nil), handle: try sender(), transaction: wire.transaction,
        description: wire.jsep)
    case "error":
      guard let error = wire.error else { throw .missing(field: "error", of: wire.janus) }
      self = .error(JanusError(code: error.code, reason: error.reason ?? ""), transaction: wire.transaction)
    case "trickle":
      guard let candidate = wire.candidate else { throw .missing(field: "candidate", of: wire.janus) }
      self = .trickle(candidate, handle: try sender())
    case "webrtcup":
      self = .connected(handle: try sender())
    case "hangup":
      self = .hangup(handle: try sender(), reason: wire.reason ?? "")
    case "media":
      self = .media(handle: try sender(), type: wire.type ?? "", isReceived: wire.isReceiving ?? false)
    case "slowlink":
      self = .slowLink(handle: try sender(), isUplink: wire.isUplink ?? false, lost: wire.lost ?? 0)
    case "detached":
      self = .detached(handle: try sender())
    case "timeout":
      self = .timeout(session: wire.sessionID)
    default:
      self = .other(wire.janus)
    }
  }
}

extension VideoRoomEvent {
  /// - Parameter isResponse: whether it responds to a request of ours: "ok" is then a confirmation, not an id.
  init(_ wire: VideoRoomWire, isResponse: Bool) {
    if let code = wire.errorCode {
      self = .failed(JanusError(code: code, reason: wire.error ?? ""))
      return
    }
    switch wire.videoroom {
    case "joined":
      guard let id = wire.id else { break }
      self = .joined(id: id, privateID: wire.privateID, feeds: (wire.publishers ?? []).map(JanusFeedInfo.init))
      return
    case "attached":
      self = .attached((wire.streams ?? []).map(JanusStreamInfo.init))
      return
    case "updated":
      self = .updated((wire.streams ?? []).map(JanusStreamInfo.init))
      return
    case "destroyed":
      self = .destroyed
      return
    case "participants":
      self = .participants((wire.participants ?? []).filter { $0.publisher == true }.map(JanusFeedInfo.init))
      return
    case "event":
      if let publishers = wire.publishers {
        self = .published(publishers.map(JanusFeedInfo.init))
        return
      }
      if isResponse { break }
      if wire.leaving == .text("ok"), let reason = wire.reason {
        self = .removed(reason: reason)
        return
      }
      if let id = wire.unpublished {
        self = .unpublished(id)
        return
      }
      if let id = wire.leaving ?? wire.kicked {
        self = .left(id)
        return
      }
    default:
      break
    }
    self = .other
  }
}

extension JanusFeedInfo {
  init(_ wire: VideoRoomWire.Feed) {
    self.init(
      id: wire.id, display: wire.display, streams: wire.streams?.map(JanusStreamInfo.init),
      isPlaceholder: wire.dummy ?? false)
  }
}

extension JanusStreamInfo {
  init(_ wire: VideoRoomWire.Stream) {
    self.init(
      type: wire.type, mid: wire.mid, isDisabled: wire.disabled ?? false, description: wire.description)
  }
}
