import Media
import NIOCore
import PeerEngine
import RTP
import TestSupport

/// Writes the packets of a track one by one, so that a test can change them in ways in which our sender never sends them.
struct PacketMaker {
  var ssrc: UInt32
  var payloadType: UInt8
  /// The sequence number of the next packet.
  var sequence: UInt16
  /// The timestamp of the next frame.
  var timestamp: UInt32
  var generator = SeededGenerator(seed: 77)

  static func video(sequence: UInt16 = 1_000, timestamp: UInt32 = 5_000_000) -> PacketMaker {
    PacketMaker(ssrc: Negotiated.aliceVideo, payloadType: 96, sequence: sequence, timestamp: timestamp)
  }

  static func audio(sequence: UInt16 = 2_000, timestamp: UInt32 = 9_000_000) -> PacketMaker {
    PacketMaker(ssrc: Negotiated.aliceAudio, payloadType: 111, sequence: sequence, timestamp: timestamp)
  }

  /// Returns the packets of a frame; its timestamp is 1/30 s after that of the frame before it.
  mutating func videoFrame(
    _ number: Int, isKeyframe: Bool = false, size: VideoSize = VideoSize(width: 640, height: 480),
    packets count: Int = 3,
    describe: (inout VP8PayloadDescriptor) -> Void = { _ in }
  ) -> [RTPPacket] {
    var descriptor = VP8PayloadDescriptor(startsPartition: true, pictureID: .init(UInt16(number & 0x7FFF)))
    describe(&descriptor)
    let room = 200
    let frame = SyntheticSource.vp8(
      number: number, isKeyframe: isKeyframe, size: size, bytes: max(16, (room - descriptor.byteCount) * count - 8),
      time: 0,
      arrival: .now, using: &generator)
    let payloads = VP8Packetizer(maximumPayloadSize: room).packetize(frame: frame.payload, descriptor: descriptor)
    defer { timestamp &+= 3_000 }
    return payloads.enumerated().map { position, payload in
      packet(payload, marker: position == payloads.count - 1)
    }
  }

  /// Returns a packet of 20 ms of audio.
  mutating func audio(_ number: Int, bytes: Int = 40) -> RTPPacket {
    var payload = ByteBuffer()
    payload.writeInteger(UInt8(0xFC))
    payload.writeInteger(UInt32(number))
    while payload.readableBytes < bytes { payload.writeInteger(UInt8.random(in: 0...255, using: &generator)) }
    return audio(payload: payload)
  }

  /// Returns an audio packet with the given payload, and advances the timestamp by 20 ms.
  mutating func audio(payload: ByteBuffer) -> RTPPacket {
    defer { timestamp &+= 960 }
    return packet(payload, marker: false)
  }

  /// Returns a packet with the current timestamp that contains only padding.
  mutating func padding(_ bytes: UInt8 = 100) -> RTPPacket {
    var padding = packet(ByteBuffer(), marker: false)
    padding.paddingLength = bytes
    return padding
  }

  private mutating func packet(_ payload: ByteBuffer, marker: Bool) -> RTPPacket {
    defer { sequence &+= 1 }
    return RTPPacket(
      marker: marker, payloadType: payloadType, sequenceNumber: sequence, timestamp: timestamp, ssrc: ssrc,
      payload: payload)
  }
}
