internal import Media
package import Signalling

/// An ICE candidate as it is stored: `{sdp, sdpMLineIndex, sdpMid?}`.
package struct StoredCandidate: Sendable, Hashable {
  /// Why a document is not a candidate.
  package enum ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    case missingText(document: String)
    case tooLong(bytes: Int, limit: Int, document: String)
    case notASCII(document: String)

    package var description: String {
      switch self {
      case .missingText(let document): "The document \(document) has no text in the field \"sdp\"."
      case .tooLong(let bytes, let limit, let document):
        "The candidate in the document \(document) has \(bytes) bytes, but only \(limit) are allowed."
      case .notASCII(let document):
        "The candidate in the document \(document) is not ASCII."
      }
    }
  }

  package static let maximumBytes = 4_096

  package var candidate: TrickledCandidate
  package var updateTime: FirestoreTimestamp

  package init(_ candidate: TrickledCandidate, updateTime: FirestoreTimestamp) {
    self.candidate = candidate
    self.updateTime = updateTime
  }

  package init(parsing document: FirestoreDocument) throws(ParseError) {
    let name = document.path.description.printable()
    guard let text = document.fields["sdp"]?.text else { throw .missingText(document: name) }
    let mid = document.fields["sdpMid"]?.text
    let bytes = text.utf8.count + (mid?.utf8.count ?? 0)
    guard bytes <= Self.maximumBytes else {
      throw .tooLong(bytes: bytes, limit: Self.maximumBytes, document: name)
    }
    guard let text = text.ascii, let mid = (mid ?? "").ascii else { throw .notASCII(document: name) }
    let index = document.fields["sdpMLineIndex"]?.integer.flatMap { (0..<1_024).contains($0) ? Int($0) : nil }
    self.init(
      TrickledCandidate(candidate: text, mid: document.fields["sdpMid"]?.text == nil ? nil : mid, mLineIndex: index),
      updateTime: document.updateTime)
  }

  package static func fields(_ candidate: TrickledCandidate) -> [String: FirestoreValue] {
    var fields: [String: FirestoreValue] = [
      "sdp": .string(UntrustedText(candidate.candidate)), "sdpMLineIndex": .integer(Int64(candidate.mLineIndex ?? 0)),
    ]
    if let mid = candidate.mid { fields["sdpMid"] = .string(UntrustedText(mid)) }
    return fields
  }

  /// Whether the candidate belongs to a description. One that names no fragment does if it is not much older.
  package func belongs(to description: StoredDescription) -> Bool {
    if let named = CandidateText.usernameFragment(of: candidate.candidate),
      let expected = description.usernameFragment
    {
      return named == expected
    }
    return updateTime >= description.updateTime.earlier(by: .seconds(15))
  }
}

/// The parts of a candidate attribute that signalling acts on (RFC 8839, 5.1).
package enum CandidateText {
  /// The extension `ufrag`, which browsers add (draft-ietf-mmusic-trickle-ice-sip; W3C WebRTC, 4.8.1).
  package static func usernameFragment(of candidate: String) -> String? {
    let words = candidate.split(separator: " ")
    guard let index = words.dropFirst(6).firstIndex(of: "ufrag"), index + 1 < words.count else { return nil }
    return String(words[index + 1])
  }

  /// The priority (RFC 8445, 5.1.2); 0 if there is none.
  package static func priority(of candidate: String) -> UInt32 {
    let words = candidate.split(separator: " ")
    return words.count > 3 ? UInt32(words[3]) ?? 0 : 0
  }

  /// Adds the fragment, so that the receiver can tell candidates of another connection apart.
  static func naming(_ fragment: String?, in candidate: String) -> String {
    guard let fragment, usernameFragment(of: candidate) == nil else { return candidate }
    return "\(candidate) ufrag \(fragment)"
  }
}
