import ICE
import Media
import NIOCore
import PeerEngine
import PeerEngineTestSupport
import RTP
import TestSupport

/// A guest of a ``DemultiplexerCall`` with real keys whose RTP and RTCP packets the test writes itself.
final class ScriptedPeer {
  let call: DemultiplexerCall
  let name: String
  private var sequenceNumbers: [UInt32: UInt16] = [:]
  private var pictureID: UInt16 = 100
  private var generator = SeededGenerator(seed: 5)

  /// Lets the guest join, and waits for the connection.
  init(_ name: String = "mallory", host: UInt8 = 66, in call: DemultiplexerCall) throws {
    self.call = call
    self.name = name
    try call.enter(name, host: host)
    try call.connect(name)
  }

  var id: ParticipantID { ParticipantID(name) }
  var address: TransportAddress { call.guests[id]?.address ?? DemultiplexerCall.botAddress }
  /// The bot's engine for this guest.
  var engine: PeerConnection? { call.engine(of: name) }

  private func track(_ kind: MediaKind) -> (ssrc: UInt32, payloadType: UInt8) {
    call.guests[id]?.engine.sentTrack(kind) ?? (0, 0)
  }

  // MARK: Packets

  /// Returns a packet with the next sequence number of its source.
  func packet(
    _ kind: MediaKind, _ payload: ByteBuffer, timestamp: UInt32, marker: Bool = true, ssrc: UInt32? = nil,
    payloadType: UInt8? = nil, padding: UInt8 = 0
  ) -> RTPPacket {
    let track = track(kind)
    let ssrc = ssrc ?? track.ssrc
    let number = sequenceNumbers[ssrc, default: 1_000] &+ 1
    sequenceNumbers[ssrc] = number
    return RTPPacket(
      marker: marker, payloadType: payloadType ?? track.payloadType, sequenceNumber: number, timestamp: timestamp,
      ssrc: ssrc, payload: payload, paddingLength: padding)
  }

  /// Returns the packet protected with the guest's keys.
  func protected(_ packet: RTPPacket) -> ByteBuffer {
    var datagram = ByteBuffer()
    packet.write(into: &datagram)
    return protected(datagram, isControl: false)
  }

  func protected(_ plain: ByteBuffer, isControl: Bool) -> ByteBuffer {
    call.guests[id]?.engine.protected(plain, isControl: isControl) ?? ByteBuffer()
  }

  /// Sends a packet; it arrives immediately.
  func send(_ packet: RTPPacket) {
    sendRaw(protected(packet))
  }

  /// Sends unprotected bytes from the guest's own address.
  func sendRaw(_ bytes: ByteBuffer) {
    call.datagram(bytes, from: address)
  }

  // MARK: Media

  /// Returns the packets of a frame of `count` packets; the frame holds its number.
  func videoFrame(
    _ number: Int, isKeyframe: Bool, size: VideoSize = VideoSize(width: 640, height: 480), packets count: Int = 3,
    timestamp: UInt32? = nil, ssrc: UInt32? = nil, payloadType: UInt8? = nil
  ) -> (frame: ByteBuffer, packets: [RTPPacket]) {
    var frame = ByteBuffer()
    frame.writeBytes([isKeyframe ? 0x10 : 0x11, 0x02, 0x00])
    if isKeyframe {
      frame.writeBytes([0x9D, 0x01, 0x2A])
      frame.writeMultipleIntegers(UInt16(size.width), UInt16(size.height), endianness: .little)
    }
    frame.writeInteger(UInt32(number))
    while frame.readableBytes < 900 * count { frame.writeInteger(generator.next()) }
    pictureID = (pictureID + 1) & 0x7FFF
    let descriptor = VP8PayloadDescriptor(startsPartition: true, pictureID: .init(pictureID))
    let payloads = VP8Packetizer(maximumPayloadSize: 1_000).packetize(frame: frame, descriptor: descriptor)
    let packets = payloads.enumerated().map { position, payload in
      packet(
        .video, payload, timestamp: timestamp ?? UInt32(number) * 3_000, marker: position == payloads.count - 1,
        ssrc: ssrc,
        payloadType: payloadType)
    }
    return (frame, packets)
  }

  /// Sends a frame, and lets 33 ms pass.
  @discardableResult
  func sendVideoFrame(
    _ number: Int, isKeyframe: Bool, size: VideoSize = VideoSize(width: 640, height: 480), ssrc: UInt32? = nil,
    payloadType: UInt8? = nil
  ) -> ByteBuffer {
    let made = videoFrame(number, isKeyframe: isKeyframe, size: size, ssrc: ssrc, payloadType: payloadType)
    for packet in made.packets { send(packet) }
    call.run(for: .milliseconds(33))
    return made.frame
  }

  var videoFrames: [ByteBuffer] { call.frames(of: name).payloads(.vp8) }
  var audioPayloads: [ByteBuffer] { call.frames(of: name).payloads(.opus) }
}
