internal import Media
package import Signalling

/// A session description as it is stored: `{sdp, type}`.
package struct StoredDescription: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable {
    case offer
    /// Also a provisional answer, which the peer treats as an answer.
    case answer
  }

  /// Why a document is not a description.
  package enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case missing(field: String, document: String)
    case unknownType(String, document: String)
    case tooLong(bytes: Int, limit: Int, document: String)
    case notASCII(document: String)

    package var description: String {
      switch self {
      case .missing(let field, let document): "The document \(document) has no text in the field \"\(field)\"."
      case .unknownType(let type, let document):
        "The document \(document) has the type \"\(type.printable(utf8Bytes: 40))\" instead of offer or answer."
      case .tooLong(let bytes, let limit, let document):
        "The document \(document) has \(bytes) bytes, but only \(limit) are allowed."
      case .notASCII(let document):
        "The document \(document) has too many bytes in a row that are not ASCII."
      }
    }
  }

  package static let maximumBytes = 256 * 1024
  /// The maximum number of consecutive bytes outside ASCII, as in `SessionDescription`: longer runs of combining marks
  /// take seconds to compare.
  package static let maximumRunOutsideASCII = 64

  package var kind: Kind
  package var sdp: String
  package var updateTime: FirestoreTimestamp
  /// The ICE user name fragment of the first section that has one (RFC 8839, 5.4).
  package let usernameFragment: String?

  package init(_ kind: Kind, sdp: String, updateTime: FirestoreTimestamp) {
    self.kind = kind
    self.sdp = sdp
    self.updateTime = updateTime
    usernameFragment = SessionDescriptionLines.usernameFragment(of: sdp)
  }

  package init(parsing document: FirestoreDocument) throws(ParseError) {
    let name = document.path.description.printable()
    guard let sdp = document.fields["sdp"]?.text?.string else { throw .missing(field: "sdp", document: name) }
    guard let type = document.fields["type"]?.text else { throw .missing(field: "type", document: name) }
    guard sdp.utf8.count <= Self.maximumBytes else {
      throw .tooLong(bytes: sdp.utf8.count, limit: Self.maximumBytes, document: name)
    }
    guard !sdp.utf8.hasRunOutsideASCII(over: Self.maximumRunOutsideASCII) else { throw .notASCII(document: name) }
    switch type.utf8.count > 16 ? "" : type.ascii?.lowercased() {
    case "offer": self.init(.offer, sdp: sdp, updateTime: document.updateTime)
    case "answer", "pranswer": self.init(.answer, sdp: sdp, updateTime: document.updateTime)
    default: throw .unknownType(type.string, document: name)
    }
  }

  package static func fields(_ kind: Kind, sdp: String) -> [String: FirestoreValue] {
    ["sdp": .string(UntrustedText(sdp)), "type": .string(UntrustedText(kind.rawValue))]
  }

  /// What distinguishes one connection of a peer from another: the fragment, or the whole text without one.
  package var identity: String { usernameFragment ?? sdp }

  package var message: SignallingMessage {
    switch kind {
    case .offer: .offer(sdp)
    case .answer: .answer(sdp)
    }
  }
}
