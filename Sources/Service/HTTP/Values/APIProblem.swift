import JSON
package import JobProtocol
import Media

/// Why a request is not answered with what it asks for: the body of an error answer (RFC 9457).
package struct APIProblem: Error, Sendable, Hashable {
  /// The documented list of problem types.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case invalidRequest
    case invalidJSON
    case unauthorized
    case forbidden
    case notFound
    case methodNotAllowed
    case uniqueKeyInUse
    case jobEnded
    case jobNotEnded
    case jobNotRunning
    case notPausable
    case deliveryPending
    case tooLarge
    case rangeNotSatisfiable
    case invalidField
    case invalidParameter
    case idempotencyKeyReused
    case tooManyRequests
    case tooManyFailures
    case internalError
    case noCapacity
    case notReady

    package var status: Int {
      switch self {
      case .invalidRequest, .invalidJSON: 400
      case .unauthorized: 401
      case .forbidden: 403
      case .notFound: 404
      case .methodNotAllowed: 405
      case .uniqueKeyInUse, .jobEnded, .jobNotEnded, .jobNotRunning, .notPausable, .deliveryPending: 409
      case .tooLarge: 413
      case .rangeNotSatisfiable: 416
      case .invalidField, .invalidParameter, .idempotencyKeyReused: 422
      case .tooManyRequests, .tooManyFailures: 429
      case .internalError: 500
      case .noCapacity, .notReady: 503
      }
    }

    /// The same for all problems of the type.
    package var title: String {
      switch self {
      case .invalidRequest: "The request cannot be read."
      case .invalidJSON: "The body is not JSON that can be read."
      case .unauthorized: "A valid token is needed."
      case .forbidden: "The token does not allow this."
      case .notFound: "There is nothing here."
      case .methodNotAllowed: "The method is not allowed here."
      case .uniqueKeyInUse: "A job with this uniqueKey has not ended."
      case .jobEnded: "The job has ended."
      case .jobNotEnded: "The job has not ended."
      case .jobNotRunning: "No process of the job answers."
      case .notPausable: "The job records nothing that could be paused."
      case .deliveryPending: "The delivery has not ended."
      case .tooLarge: "The request is too large."
      case .rangeNotSatisfiable: "The range is outside the file."
      case .invalidField: "A field of the body cannot be used."
      case .invalidParameter: "A parameter of the query or a header cannot be used."
      case .idempotencyKeyReused: "The idempotency key was used with another body."
      case .tooManyRequests: "There are too many requests."
      case .tooManyFailures: "There were too many wrong tokens."
      case .internalError: "The service failed."
      case .noCapacity: "There is no room for the job."
      case .notReady: "The service cannot do this at the moment."
      }
    }

    package var uri: String { "urn:chatbot:problem:\(rawValue)" }
  }

  /// A part of the request that cannot be used.
  package struct Fault: Sendable, Hashable {
    package enum Place: Sendable, Hashable {
      /// A JSON pointer into the body (RFC 6901).
      case pointer(String)
      /// The name of a parameter of the query.
      case parameter(String)
      case header(String)
    }

    package var place: Place
    /// One sentence.
    package var detail: String
  }

  package var kind: Kind
  /// One sentence about this occurrence.
  package var detail: String
  package var faults: [Fault] = []
  /// The job that is in the way.
  package var job: String?
  /// The short resource, what is needed and what is free of it.
  package var resource: (name: String, needed: Int64, free: Int64)?
  /// What is missing, a sentence each.
  package var missing: [String] = []
  /// Seconds after which the request may be repeated.
  package var retryAfter: Int?
  /// The methods that are allowed.
  package var allow: [String] = []
  /// The size of the file, of a range outside it.
  package var size: Int64?

  package init(_ kind: Kind, _ detail: String? = nil) {
    self.kind = kind
    self.detail = detail ?? kind.title
  }

  package init(faults: [JobProblem]) {
    self.init(.invalidField, faults.first?.sentence)
    self.faults = faults.prefix(50).map { Fault(place: .pointer($0.pointer), detail: $0.sentence) }
  }

  package static func parameter(_ name: String, _ detail: String) -> APIProblem {
    var problem = APIProblem(.invalidParameter, detail)
    problem.faults = [Fault(place: .parameter(name), detail: detail)]
    return problem
  }

  package static func header(_ name: String, _ detail: String) -> APIProblem {
    var problem = APIProblem(.invalidParameter, detail)
    problem.faults = [Fault(place: .header(name), detail: detail)]
    return problem
  }

  package static func == (one: Self, other: Self) -> Bool { one.json == other.json }
  package func hash(into hasher: inout Hasher) { hasher.combine(json) }

  /// The body.
  var json: JSONValue {
    var fields: [String: JSONValue] = [
      "type": .text(kind.uri), "title": .text(kind.title), "status": .whole(kind.status), "detail": .text(detail),
    ]
    if !faults.isEmpty {
      fields["errors"] = .array(
        faults.map { fault in
          switch fault.place {
          case .pointer(let pointer): .object(["pointer": .text(pointer), "detail": .text(fault.detail)])
          case .parameter(let name): .object(["parameter": .text(name), "detail": .text(fault.detail)])
          case .header(let name): .object(["header": .text(name), "detail": .text(fault.detail)])
          }
        })
    }
    if let job { fields["job"] = .text(job) }
    if let resource {
      fields["resource"] = .text(resource.name)
      fields["needed"] = .whole(resource.needed)
      fields["free"] = .whole(resource.free)
    }
    if !missing.isEmpty { fields["missing"] = .array(missing.map { .text($0) }) }
    return .object(fields)
  }
}

extension JSONValue {
  static func text(_ text: String) -> JSONValue { .string(UntrustedText(text)) }
  static func whole(_ number: some BinaryInteger) -> JSONValue { .number(Double(number)) }
  /// Null for a missing value.
  static func text(_ text: String?) -> JSONValue { text.map { .text($0) } ?? .null }
  static func whole(_ number: Int64?) -> JSONValue { number.map { .number(Double($0)) } ?? .null }
  static func time(_ milliseconds: Int64?) -> JSONValue { milliseconds.map { .text(APITime.text($0)) } ?? .null }
}
