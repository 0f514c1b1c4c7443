package import HTTPTransport
internal import Media
internal import Signalling

/// Why an operation on a database failed.
package enum FirestoreError: Error, Sendable, Hashable, CustomStringConvertible {
  /// No response arrived.
  case noResponse(HTTPError)
  /// The credentials are missing, wrong or expired (401), or do not allow the operation (403).
  case unauthorized(status: UInt, message: String)
  case notFound(String)
  /// The server is busy or the quota is exhausted (429, 500, 502, 503, 504).
  case busy(status: UInt, retryAfter: Duration?)
  case rejected(status: UInt, message: String)
  /// Another program has written the document that we wanted to create.
  case occupied(String)
  /// The response is not what the API describes.
  case invalidResponse(String)
  /// A collection has more documents than signalling needs.
  case tooManyDocuments(collection: String, limit: Int)
  /// The credentials cannot be read or used.
  case invalidCredentials(String)

  package var description: String {
    switch self {
    case .noResponse(let error): error.description
    case .unauthorized(let status, let message):
      "Firestore does not accept the credentials (\(status)\(message.isEmpty ? "" : ": \(message)"))."
    case .notFound(let what): "\(what) does not exist in Firestore."
    case .busy(let status, _): "Firestore cannot process requests at the moment (status \(status))."
    case .rejected(let status, let message):
      "Firestore rejects the request (\(status)\(message.isEmpty ? "" : ": \(message)"))."
    case .occupied(let what): "\(what) was written by another program."
    case .invalidResponse(let reason): "The response of Firestore is invalid: \(reason)."
    case .tooManyDocuments(let collection, let limit): "The collection \(collection) has more than \(limit) documents."
    case .invalidCredentials(let sentence): sentence
    }
  }

  /// Whether no later attempt can succeed.
  package var isPermanent: Bool {
    switch self {
    case .unauthorized, .invalidCredentials, .notFound: true
    case .noResponse, .busy, .rejected, .occupied, .invalidResponse, .tooManyDocuments: false
    }
  }

  /// The wait that the server asks for.
  package var retryAfter: Duration? { if case .busy(_, let wait) = self { wait } else { nil } }
}

extension SignallingConnectError {
  init(_ error: FirestoreError) {
    switch error {
    case .noResponse(let error): self = SignallingConnectError(error)
    case .unauthorized: self = .unauthorized(error.description)
    case .busy: self = .unreachable(error.description)
    case .invalidCredentials: self = .invalidConfiguration(error.description)
    case .notFound, .rejected, .occupied, .invalidResponse, .tooManyDocuments: self = .rejected(error.description)
    }
  }
}

extension ReconnectionState.ConnectionEnd {
  init(_ error: FirestoreError) {
    switch error {
    // A room that is deleted ends the call, as one that is closed elsewhere.
    case .notFound: self = .closed(reason: error.description)
    case _ where error.isPermanent: self = .rejected(reason: error.description)
    default: self = .lost(reason: error.description, delay: .backoff(atLeast: error.retryAfter ?? .zero))
    }
  }
}
