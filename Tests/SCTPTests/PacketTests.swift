import Bitstream
import CChecksums
import NIOCore
import SCTP
import TestSupport
import Testing

@Suite("Packets and chunks")
struct PacketTests {
  @Test("the checksum is CRC32c, by the processor and by tables, at any length and alignment")
  func checksum() {
    // RFC 3720, B.4, and the usual check value.
    #expect(Self.crc(Array("123456789".utf8)) == 0xE306_9283)
    #expect(Self.crc([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
    #expect(Self.crc([UInt8](repeating: 0xFF, count: 32)) == 0x62A8_AB43)
    #expect(Self.crc(Array(0..<32)) == 0x46DD_794E)
    var generator = SeededGenerator(seed: 1)
    let bytes = (0..<300).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    bytes.withUnsafeBytes { all in
      for start in 0..<8 {
        for length in 0..<200 {
          let part = UnsafeRawBufferPointer(rebasing: all[start..<start + length])
          let byTable = cchecksums_crc32c_by_table(0xFFFF_FFFF, part.baseAddress, length)
          #expect(cchecksums_crc32c(0xFFFF_FFFF, part.baseAddress, length) == byTable)
        }
      }
    }
  }

  private static func crc(_ bytes: [UInt8]) -> UInt32 {
    var checksum = CRC32c()
    bytes.withUnsafeBytes { checksum.update($0) }
    return checksum.value
  }

  @Test("every chunk is read as it was written")
  func roundTrip() throws {
    var data = DataChunk(
      tsn: .max, stream: 7, streamSequenceNumber: 9, protocolID: 51, payload: ByteBuffer(string: "hello"))
    data.isUnordered = true
    data.isLast = false
    data.wantsImmediateAck = true
    let initiation = InitChunk(
      initiateTag: 1, window: 100_000, initialTSN: 5,
      parameters: [
        SCTPParameter(.init(rawValue: 0xC000)), SCTPParameter(.init(rawValue: 7), ByteBuffer(string: "cookie")),
      ])
    let bytes = ByteBuffer(string: "odd")
    let packet = SCTPPacket(
      sourcePort: 5_000, destinationPort: 5_001, verificationTag: 0xDEAD_BEEF,
      chunks: [
        .data(data), .initiation(initiation), .initiationAck(initiation),
        .selectiveAck(
          .init(cumulativeTSN: 4, window: 9, gapBlocks: [.init(start: 2, end: 3)], duplicates: [1, 2])),
        .heartbeat(bytes), .heartbeatAck(bytes),
        .abort([ErrorCause(.userInitiatedAbort, text: "enough")], tagIsReflected: true), .shutdown(cumulativeTSN: 3),
        .shutdownAck, .error([ErrorCause(.staleCookie, ByteBuffer(integer: UInt32(1)))]), .cookieEcho(bytes),
        .cookieAck, .shutdownComplete(tagIsReflected: false),
        .forwardTSN(.init(newCumulativeTSN: 8, skipped: [.init(stream: 1, streamSequenceNumber: 2)])),
        .reconfiguration([
          .outgoingReset(request: 1, response: 2, lastTSN: 3, streams: [4, 5, 6]),
          .incomingReset(request: 7, streams: [8]), .response(to: 9, .performed),
          .unsupportedRequest(type: 15, request: 10, rest: ByteBuffer()),
        ]),
        .unknown(type: 0xC1, flags: 3, body: bytes),
      ])
    let written = packet.encoded()
    #expect(written.readableBytes % 4 == 0)
    #expect(try SCTPPacket(parsing: written) == packet)
    #expect(initiation.supportsForwardTSN && initiation.cookie == ByteBuffer(string: "cookie"))
  }

  @Test("an INIT as Chrome sends it is read")
  func chromeInit() throws {
    var datagram = ByteBuffer(bytes: [
      0x13, 0x88, 0x13, 0x88, 0, 0, 0, 0, 0, 0, 0, 0,
      1, 0, 0, 0x20, 0x12, 0x34, 0x56, 0x78, 0, 0x50, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 5,
      0x80, 0x08, 0, 6, 0xC0, 0x82, 0, 0, 0xC0, 0, 0, 4,
    ])
    // The length of the chunk, and the checksum.
    datagram.setInteger(UInt16(datagram.readableBytes - 12), at: 14)
    let bytes = Array(datagram.readableBytesView)
    datagram.setInteger(Self.crc(bytes), at: 8, endianness: .little)
    let packet = try SCTPPacket(parsing: datagram)
    guard case .initiation(let chunk)? = packet.chunks.first else {
      Issue.record("\(packet)")
      return
    }
    #expect(chunk.initiateTag == 0x1234_5678 && chunk.window == 0x50_0000 && chunk.initialTSN == 5)
    #expect(chunk.supportsForwardTSN && chunk.supportsReconfiguration)
    #expect(packet.encoded() == datagram)
  }

  @Test("a wrong checksum, a short header or a wrong length is refused with a sentence")
  func refusals() {
    var datagram = SCTPPacket(sourcePort: 1, destinationPort: 2, verificationTag: 3, chunks: [.cookieAck]).encoded()
    datagram.setInteger(UInt8(9), at: 1)
    #expect(throws: ParseError.self) { try SCTPPacket(parsing: datagram) }
    #expect(throws: ParseError.tooShort("An SCTP packet", needs: 12, found: 5)) {
      try SCTPPacket(parsing: ByteBuffer(bytes: [1, 2, 3, 4, 5]))
    }
    let many = SCTPPacket(
      sourcePort: 1, destinationPort: 2, verificationTag: 3, chunks: Array(repeating: .cookieAck, count: 129))
    #expect(
      throws: ParseError.wrongValue("The number of chunks in an SCTP packet", expected: "at most 128", found: 129)
    ) {
      try SCTPPacket(parsing: many.encoded())
    }
  }

  @Test("data channel control messages are read as they were written")
  func controlMessages() throws {
    for configuration in [
      DataChannelConfiguration(label: "a", subprotocol: "b"),
      DataChannelConfiguration(label: "ü", isOrdered: false, reliability: .retransmissions(0), priority: 128),
      DataChannelConfiguration(isOrdered: false, reliability: .lifetime(milliseconds: 3_000), priority: 1_024),
    ] {
      var payload = ByteBuffer()
      DataChannelControlMessage.open(configuration).write(into: &payload)
      #expect(try DataChannelControlMessage(parsing: payload) == .open(configuration))
    }
    #expect(throws: ParseError.self) { try DataChannelControlMessage(parsing: ByteBuffer(bytes: [9])) }
    #expect(throws: ParseError.self) { try DataChannelControlMessage(parsing: ByteBuffer(bytes: [3, 0])) }
  }
}
