internal import Media
package import Signalling

/// An error that Janus or its VideoRoom plugin reports, by number.
///
/// Source: `apierror.h` and `janus_videoroom.c` of Janus 1.1.2.
package struct JanusError: Error, Sendable, Hashable, CustomStringConvertible {
  package var code: Int
  /// The server's own words.
  package var reason: String

  package init(code: Int, reason: String) {
    self.code = code
    self.reason = reason
  }

  package static let noSuchFeed = 428
  package static let publishersFull = 432
  package static let sessionNotFound = 458
  package static let handleNotFound = 459

  /// How to treat an error in response to a join.
  package enum Consequence: Sendable, Hashable {
    /// It may succeed later.
    case retry
    /// The credentials are wrong or missing.
    case unauthorized
    /// The request cannot succeed, for example because there is no such room.
    case rejected
  }

  package var consequence: Consequence {
    switch code {
    case 403, 405, 433, 470: .unauthorized
    case 429 where reason.contains("pin"): .unauthorized
    case 421...423, 426, 427, 429...431, 436, 452...457, 460, 464, 465, 467: .rejected
    default: .retry
    }
  }

  /// The error of `connect()`, or the end of the signalling; nil if it may succeed later.
  package var permanent: SignallingConnectError? {
    switch consequence {
    case .retry: nil
    case .unauthorized: .unauthorized(description)
    case .rejected: .rejected(description)
    }
  }

  package var description: String {
    let words = reason.isEmpty ? "" : ": \"\(reason.printable(utf8Bytes: 120))\""
    return "\(meaning) (Janus error \(code)\(words))."
  }

  private var meaning: String {
    switch code {
    case 403: "The server rejects the API secret or the token"
    case 405: "The server does not allow this token to use the VideoRoom plugin"
    case 421, 422, 423, 452, 453, 454, 455, 456, 457, 467: "The server does not understand a request"
    case 424: "The handle has not joined a room"
    case 425: "The handle has already joined a room"
    case 426: "There is no such room"
    case 427: "The room exists already"
    case 428: "There is no such feed"
    case 429 where reason.contains("pin"): "The room requires a PIN"
    case 429: "A request lacks a field"
    case 430 where reason.contains("codec"): "The room does not accept a codec that we publish"
    case 430 where reason.contains("(room should"): "The room's id is of the wrong kind"
    case 430: "A field of a request is of the wrong kind"
    case 431, 437, 464, 465: "The server cannot use the session description"
    case 432: "The room has as many publishers as it allows"
    case 433 where reason.contains("pin"): "The room's PIN is wrong"
    case 433: "The room rejects us"
    case 434: "We publish already"
    case 435: "We do not publish"
    case 436: "The room has a participant with our id already"
    case 458: "The session no longer exists"
    case 459: "The handle no longer exists"
    case 460: "The server has no VideoRoom plugin"
    case 461, 462, 463: "The VideoRoom plugin failed"
    case 466: "The server cannot use a candidate"
    case 468: "A session with this id exists already"
    case 469: "The server expects no answer"
    case 470: "The server does not know the token"
    case 471: "The server's WebRTC connection is in another state"
    case 472: "The server accepts no sessions at present"
    default: "The server reports an error"
    }
  }
}
