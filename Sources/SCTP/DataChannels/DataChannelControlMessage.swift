package import Bitstream
package import NIOCore

/// A message of the Data Channel Establishment Protocol (RFC 8832, 5).
package enum DataChannelControlMessage: Sendable, Hashable {
  case open(DataChannelConfiguration)
  case ack

  private enum Kind {
    static let ack: UInt8 = 2
    static let open: UInt8 = 3
  }

  /// The maximum length of a label or subprotocol in bytes, so that all channels together stay small. RFC 8832 allows
  /// 65,535.
  package static let maximumNameBytes = 4_096
  private static let headerLength = 12

  package init(parsing payload: ByteBuffer) throws(ParseError) {
    var rest = payload
    guard let type = rest.readInteger(as: UInt8.self) else {
      throw .tooShort("A DCEP message", needs: 1, found: 0)
    }
    switch type {
    case Kind.ack: self = .ack
    case Kind.open: self = .open(try Self.parseOpen(rest, found: payload.readableBytes))
    default: throw .wrongValue("The type of a DCEP message", expected: "2 or 3", found: Int(type))
    }
  }

  private static func parseOpen(_ body: ByteBuffer, found: Int) throws(ParseError) -> DataChannelConfiguration {
    var rest = body
    guard
      let (channelType, priority, parameter, labelLength, protocolLength) = rest.readMultipleIntegers(
        as: (UInt8, UInt16, UInt32, UInt16, UInt16).self)
    else { throw .tooShort("A DATA_CHANNEL_OPEN message", needs: headerLength, found: found) }
    let longest = max(labelLength, protocolLength)
    guard Int(longest) <= maximumNameBytes else {
      throw .wrongValue(
        "The length of a data channel's label or protocol", expected: "at most \(maximumNameBytes)",
        found: Int(longest))
    }
    guard let label = rest.readString(length: Int(labelLength)),
      let subprotocol = rest.readString(length: Int(protocolLength))
    else {
      throw .tooShort(
        "A DATA_CHANNEL_OPEN message", needs: headerLength + Int(labelLength) + Int(protocolLength), found: found)
    }
    var configuration = DataChannelConfiguration(
      label: label, subprotocol: subprotocol, isOrdered: channelType & 0x80 == 0, priority: priority)
    switch channelType & 0x7F {
    case 0: break
    case 1: configuration.reliability = .retransmissions(parameter)
    case 2: configuration.reliability = .lifetime(milliseconds: parameter)
    default:
      throw .wrongValue("The type of a data channel", expected: "0 to 2 or 128 to 130", found: Int(channelType))
    }
    return configuration
  }

  package func write(into buffer: inout ByteBuffer) {
    switch self {
    case .ack: buffer.writeInteger(Kind.ack)
    case .open(let configuration):
      let type: UInt8
      let parameter: UInt32
      switch configuration.reliability {
      case .reliable: (type, parameter) = (0, 0)
      case .retransmissions(let count): (type, parameter) = (1, count)
      case .lifetime(let milliseconds): (type, parameter) = (2, milliseconds)
      }
      let label = configuration.label.utf8.prefix(Self.maximumNameBytes)
      let subprotocol = configuration.subprotocol.utf8.prefix(Self.maximumNameBytes)
      buffer.writeMultipleIntegers(
        Kind.open, type | (configuration.isOrdered ? 0 : 0x80), configuration.priority, parameter,
        UInt16(label.count), UInt16(subprotocol.count))
      buffer.writeBytes(label)
      buffer.writeBytes(subprotocol)
    }
  }
}

/// The payload protocol identifiers of data channels (RFC 8831, 8).
package enum DataChannelProtocolID {
  package static let control: UInt32 = 50
  package static let text: UInt32 = 51
  package static let binary: UInt32 = 53
  package static let emptyText: UInt32 = 56
  package static let emptyBinary: UInt32 = 57
}
