import Bitstream
package import NIOCore

/// A request or response in a RE-CONFIG chunk (RFC 6525, 4).
package enum ReconfigurationParameter: Sendable, Hashable {
  /// The sender resets the sequence numbers of its outgoing streams; none named means all (RFC 6525, 4.1).
  ///
  /// - `lastTSN`: the last TSN that the sender assigned before the reset.
  case outgoingReset(request: UInt32, response: UInt32, lastTSN: UInt32, streams: [UInt16])
  /// The sender asks the receiver to reset the streams towards the sender (RFC 6525, 4.2).
  case incomingReset(request: UInt32, streams: [UInt16])
  /// RFC 6525, 4.4.
  case response(to: UInt32, Result)
  /// A request that is not supported: a reset of TSNs, or more streams (RFC 6525, 4.3, 4.5 and 4.6).
  case unsupportedRequest(type: UInt16, request: UInt32, rest: ByteBuffer)
  case unknown(SCTPParameter)

  package struct Result: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    package static let nothingToDo = Result(rawValue: 0)
    package static let performed = Result(rawValue: 1)
    package static let denied = Result(rawValue: 2)
    package static let wrongStream = Result(rawValue: 3)
    package static let alreadyInProgress = Result(rawValue: 4)
    package static let badSequenceNumber = Result(rawValue: 5)
    package static let inProgress = Result(rawValue: 6)
  }

  private enum Kind {
    static let outgoingReset: UInt16 = 13
    static let incomingReset: UInt16 = 14
    static let response: UInt16 = 16
    /// Reset of SSNs and TSNs, more outgoing streams, more incoming streams.
    static let unsupported: Set<UInt16> = [15, 17, 18]
  }

  init(parsing parameter: SCTPParameter) throws(ParseError) {
    var rest = parameter.value
    let type = parameter.kind.rawValue
    let found = 4 + rest.readableBytes
    switch type {
    case Kind.outgoingReset:
      guard let (request, response, tsn) = rest.readMultipleIntegers(as: (UInt32, UInt32, UInt32).self) else {
        throw .tooShort("An outgoing reset request", needs: 16, found: found)
      }
      self = .outgoingReset(request: request, response: response, lastTSN: tsn, streams: Self.streams(in: rest))
    case Kind.incomingReset:
      guard let request = rest.readInteger(as: UInt32.self) else {
        throw .tooShort("An incoming reset request", needs: 8, found: found)
      }
      self = .incomingReset(request: request, streams: Self.streams(in: rest))
    case Kind.response:
      guard let (request, result) = rest.readMultipleIntegers(as: (UInt32, UInt32).self) else {
        throw .tooShort("A re-configuration response", needs: 12, found: found)
      }
      self = .response(to: request, Result(rawValue: result))
    case _ where Kind.unsupported.contains(type):
      guard let request = rest.readInteger(as: UInt32.self) else {
        throw .tooShort("A re-configuration request", needs: 8, found: found)
      }
      self = .unsupportedRequest(type: type, request: request, rest: rest)
    default: self = .unknown(parameter)
    }
  }

  static func list(in body: ByteBuffer) throws(ParseError) -> [ReconfigurationParameter] {
    var parsed: [ReconfigurationParameter] = []
    for parameter in try SCTPParameter.list(in: body, of: "A RE-CONFIG chunk") {
      parsed.append(try ReconfigurationParameter(parsing: parameter))
    }
    return parsed
  }

  static func write(_ parameters: [ReconfigurationParameter], into buffer: inout ByteBuffer) {
    for parameter in parameters { parameter.write(into: &buffer) }
  }

  private func write(into buffer: inout ByteBuffer) {
    switch self {
    case .outgoingReset(let request, let response, let lastTSN, let streams):
      buffer.writeParameter(Kind.outgoingReset) {
        $0.writeMultipleIntegers(request, response, lastTSN)
        for stream in streams { $0.writeInteger(stream) }
      }
    case .incomingReset(let request, let streams):
      buffer.writeParameter(Kind.incomingReset) {
        $0.writeInteger(request)
        for stream in streams { $0.writeInteger(stream) }
      }
    case .response(let request, let result):
      buffer.writeParameter(Kind.response) { $0.writeMultipleIntegers(request, result.rawValue) }
    case .unsupportedRequest(let type, let request, let rest):
      buffer.writeParameter(type) {
        $0.writeInteger(request)
        $0.writeImmutableBuffer(rest)
      }
    case .unknown(let parameter): parameter.write(into: &buffer)
    }
  }

  private static func streams(in bytes: ByteBuffer) -> [UInt16] {
    var rest = bytes
    var streams: [UInt16] = []
    while let stream = rest.readInteger(as: UInt16.self) { streams.append(stream) }
    return streams
  }
}
