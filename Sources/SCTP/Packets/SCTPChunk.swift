import Bitstream
package import NIOCore

/// One chunk of a packet (RFC 9260, 3.2 and 3.3; RFC 3758; RFC 6525).
package enum SCTPChunk: Sendable, Hashable {
  case data(DataChunk)
  case initiation(InitChunk)
  case initiationAck(InitChunk)
  case selectiveAck(SelectiveAckChunk)
  /// The opaque information that the receiver returns.
  case heartbeat(ByteBuffer)
  case heartbeatAck(ByteBuffer)
  /// `tagIsReflected` is the T bit: the sender had no association and used the receiver's own tag.
  case abort([ErrorCause], tagIsReflected: Bool)
  case shutdown(cumulativeTSN: UInt32)
  case shutdownAck
  case error([ErrorCause])
  case cookieEcho(ByteBuffer)
  case cookieAck
  case shutdownComplete(tagIsReflected: Bool)
  case forwardTSN(ForwardTSNChunk)
  case reconfiguration([ReconfigurationParameter])
  /// A chunk of an unsupported type; `body` excludes the first four bytes.
  case unknown(type: UInt8, flags: UInt8, body: ByteBuffer)

  /// The supported chunk types.
  enum Kind {
    static let data: UInt8 = 0
    static let initiation: UInt8 = 1
    static let initiationAck: UInt8 = 2
    static let selectiveAck: UInt8 = 3
    static let heartbeat: UInt8 = 4
    static let heartbeatAck: UInt8 = 5
    static let abort: UInt8 = 6
    static let shutdown: UInt8 = 7
    static let shutdownAck: UInt8 = 8
    static let error: UInt8 = 9
    static let cookieEcho: UInt8 = 10
    static let cookieAck: UInt8 = 11
    static let shutdownComplete: UInt8 = 14
    static let reconfiguration: UInt8 = 130
    static let forwardTSN: UInt8 = 192
  }

  init(parsing raw: RawChunk) throws(ParseError) {
    switch raw.type {
    case Kind.data: self = .data(try DataChunk(parsing: raw))
    case Kind.initiation: self = .initiation(try InitChunk(parsing: raw.body))
    case Kind.initiationAck: self = .initiationAck(try InitChunk(parsing: raw.body))
    case Kind.selectiveAck: self = .selectiveAck(try SelectiveAckChunk(parsing: raw.body))
    case Kind.heartbeat: self = .heartbeat(try SCTPParameter.heartbeatInformation(in: raw.body))
    case Kind.heartbeatAck: self = .heartbeatAck(try SCTPParameter.heartbeatInformation(in: raw.body))
    case Kind.abort:
      self = .abort(try ErrorCause.list(in: raw.body, of: "An ABORT chunk"), tagIsReflected: raw.flags & 1 != 0)
    case Kind.shutdown:
      guard let tsn = raw.body.getInteger(at: raw.body.readerIndex, as: UInt32.self) else {
        throw .tooShort("A SHUTDOWN chunk", needs: 8, found: 4 + raw.body.readableBytes)
      }
      self = .shutdown(cumulativeTSN: tsn)
    case Kind.shutdownAck: self = .shutdownAck
    case Kind.error: self = .error(try ErrorCause.list(in: raw.body, of: "An ERROR chunk"))
    case Kind.cookieEcho: self = .cookieEcho(raw.body)
    case Kind.cookieAck: self = .cookieAck
    case Kind.shutdownComplete: self = .shutdownComplete(tagIsReflected: raw.flags & 1 != 0)
    case Kind.forwardTSN: self = .forwardTSN(try ForwardTSNChunk(parsing: raw.body))
    case Kind.reconfiguration:
      self = .reconfiguration(try ReconfigurationParameter.list(in: raw.body))
    default: self = .unknown(type: raw.type, flags: raw.flags, body: raw.body)
    }
  }

  /// Writes the chunk, padded to a multiple of four bytes. A chunk of more than 65,535 bytes is left out.
  package func write(into buffer: inout ByteBuffer) {
    switch self {
    case .data(let chunk): chunk.write(into: &buffer)
    case .initiation(let chunk): buffer.writeChunk(Kind.initiation) { chunk.write(into: &$0) }
    case .initiationAck(let chunk): buffer.writeChunk(Kind.initiationAck) { chunk.write(into: &$0) }
    case .selectiveAck(let chunk): buffer.writeChunk(Kind.selectiveAck) { chunk.write(into: &$0) }
    case .heartbeat(let information):
      buffer.writeChunk(Kind.heartbeat) { SCTPParameter(.heartbeatInformation, information).write(into: &$0) }
    case .heartbeatAck(let information):
      buffer.writeChunk(Kind.heartbeatAck) { SCTPParameter(.heartbeatInformation, information).write(into: &$0) }
    case .abort(let causes, let tagIsReflected):
      buffer.writeChunk(Kind.abort, flags: tagIsReflected ? 1 : 0) { ErrorCause.write(causes, into: &$0) }
    case .shutdown(let tsn): buffer.writeChunk(Kind.shutdown) { $0.writeInteger(tsn) }
    case .shutdownAck: buffer.writeChunk(Kind.shutdownAck) { _ in }
    case .error(let causes): buffer.writeChunk(Kind.error) { ErrorCause.write(causes, into: &$0) }
    case .cookieEcho(let cookie): buffer.writeChunk(Kind.cookieEcho) { $0.writeImmutableBuffer(cookie) }
    case .cookieAck: buffer.writeChunk(Kind.cookieAck) { _ in }
    case .shutdownComplete(let tagIsReflected):
      buffer.writeChunk(Kind.shutdownComplete, flags: tagIsReflected ? 1 : 0) { _ in }
    case .forwardTSN(let chunk): buffer.writeChunk(Kind.forwardTSN) { chunk.write(into: &$0) }
    case .reconfiguration(let parameters):
      buffer.writeChunk(Kind.reconfiguration) { ReconfigurationParameter.write(parameters, into: &$0) }
    case .unknown(let type, let flags, let body):
      buffer.writeChunk(type, flags: flags) { $0.writeImmutableBuffer(body) }
    }
  }
}

/// What a receiver does with an unsupported chunk or parameter, by the two highest bits of its type (RFC 9260, 3.2 and
/// 3.2.1).
struct UnknownTypeAction: Sendable, Hashable {
  /// Whether the rest of the packet, or of the chunk, is not processed.
  let stops: Bool
  /// Whether the sender gets an ERROR, or an Unrecognized Parameter.
  let reports: Bool

  init(chunkType: UInt8) {
    stops = chunkType & 0x80 == 0
    reports = chunkType & 0x40 != 0
  }

  init(parameterType: UInt16) {
    self.init(chunkType: UInt8(truncatingIfNeeded: parameterType >> 8))
  }
}
