import BotPeer
import Foundation
import Media
import NIOCore
import NIOPosix
import Room
import SkyRTC
import TestSupport
import Testing

/// A stream of H.264 with broken bytes. Each step of it is a keyframe with its parameter sets, and a frame that refers to it; one byte
/// of one of the two is another one in the RTP packets.
struct BrokenH264: Sendable {
  /// A byte that is changed.
  struct Flip: Sendable {
    /// Whether it is one of the keyframe.
    let isInKeyframe: Bool
    /// Its position in the payloads of the frame.
    let position: Int
    /// The bits that are inverted.
    let mask: UInt8
  }

  /// The frames of a step.
  private let frames: [ByteBuffer]
  let flips: [Flip]
  private let size = VideoSize(width: 64, height: 48)

  /// Makes a stream in which each byte of the payloads of a keyframe, which has parameter sets, and of the beginning of another
  /// frame is inverted once, and then its lowest and its highest bit alone.
  init() throws {
    let stream = try H264Stream.make(
      size: size.description, seconds: 0.1,
      ["-c:v", "libx264", "-profile:v", "main", "-preset", "veryfast", "-bf", "0", "-crf", "36"])
    // Information about the encoder is longer than all else.
    let units = stream.frames.prefix(2).map { Self.units(of: $0).filter { $0.first.map { $0 & 0x1F } != 6 } }
    try #require(units.map(\.count) == [3, 1], "two parameter sets and a slice, and a slice")
    frames = units.map { units in
      var frame = ByteBuffer()
      for unit in units {
        frame.writeInteger(UInt32(unit.count))
        frame.writeBytes(unit)
      }
      return frame
    }
    // The parameter sets share a payload (RFC 6184, 5.7.1): its header, and each with its length.
    let keyframe = 1 + units[0].dropLast().reduce(0) { $0 + 2 + $1.count } + units[0][2].count
    try #require(units[0][2].count < 1_000, "a slice that one packet carries")
    // A slice header has no more than these bytes.
    let other = min(24, units[1][0].count)
    flips = [0xFF, 0x01, 0x80].flatMap { mask in
      (0..<keyframe).map { Flip(isInKeyframe: true, position: $0, mask: mask) }
        + (0..<other).map { Flip(isInKeyframe: false, position: $0, mask: mask) }
    }
  }

  /// The number of packets of all steps: one with the parameter sets, and one for each slice.
  var packets: Int { 3 * flips.count }

  /// The time between two steps.
  static let interval = Duration.milliseconds(5)

  /// Joins a room, sends all steps, and leaves.
  ///
  /// - Parameter recorder: the participant who must be connected before they begin.
  /// - Returns: the number of packets that the recorder was sent.
  func send(to recorder: ParticipantID, in room: String, of server: Server, _ network: Network) async throws -> Int {
    var configuration = Peer.Configuration()
    configuration.bindAddresses = ["127.0.0.1"]
    configuration.sending = [.video]
    configuration.receiving = []
    configuration.sendingCodecs = [.video: .h264]
    // Nothing waits for a better estimate, and nothing is sent twice.
    configuration.minimumSendBitrate = 2_000_000
    configuration.keyframeResponse = .requestFromSource
    configuration.interceptors = [PeerInterceptor(rtp: ByteFlipper(flips: flips))]
    let peer = try await Peer.start(configuration, on: network.loops.next())
    let client = try SkyRTCClient(url: server.address, room: room, on: network.loops)
    let session = RoomSession(client: client, peer: peer)
    try await session.join()
    let running = Task { _ = await session.run() }
    do {
      try await eventually("connection of the attacker with the recorder", within: .seconds(10)) {
        await peer.statistics().contains { $0.participant == recorder && $0.state == .connected } ? true : nil
      }
      let begun = ContinuousClock.now
      for step in flips.indices {
        for (index, frame) in frames.enumerated() {
          let isKeyframe = index == 0
          let time = Self.interval * step + Self.interval / 2 * index
          peer.send(
            EncodedFrame(
              owner: "attacker", codec: .h264, time: MediaTime(ticks: Int64(time.inSeconds * 90_000), rate: 90_000),
              payload: frame, isKeyframe: isKeyframe, size: isKeyframe ? size : nil, arrival: .now))
        }
        let rest = begun + Self.interval * (step + 1) - .now
        if rest > .zero { try await sleepOnEventLoop(for: rest) }
      }
      try await eventually("packets of all steps at the recorder", within: .seconds(10)) {
        await Self.packetsSent(by: peer, to: recorder) >= packets ? true : nil
      }
      try await sleepOnEventLoop(for: .milliseconds(300))
    } catch {
      await session.leave(because: "The attack failed.")
      await running.value
      throw error
    }
    let sent = await Self.packetsSent(by: peer, to: recorder)
    await session.leave(because: "All was sent.")
    await running.value
    return sent
  }

  private static func packetsSent(by peer: Peer, to recorder: ParticipantID) async -> Int {
    let statistics = await peer.statistics().first { $0.participant == recorder }
    return Int(statistics?.packetsSent ?? 0)
  }

  private static func units(of frame: ByteBuffer) -> [[UInt8]] {
    var rest = frame
    var units: [[UInt8]] = []
    while let length = rest.readInteger(as: UInt32.self), let unit = rest.readBytes(length: Int(length)) {
      units.append(unit)
    }
    return units
  }
}

/// Changes a byte of the payloads of each step.
private struct ByteFlipper: RTPInterceptor {
  let flips: [BrokenH264.Flip]
  /// The payload type of the first packet, which is no retransmission.
  private var payloadType: UInt8?
  private var timestamp: UInt32?
  private var isKeyframe = false
  private var step = -1
  /// The number of bytes in the payloads of the frame so far.
  private var position = 0

  init(flips: [BrokenH264.Flip]) { self.flips = flips }

  mutating func send(_ packet: inout OutgoingRTPPacket) {
    guard packet.kind == .video, let first = packet.payload.getInteger(at: packet.payload.readerIndex, as: UInt8.self),
      packet.payloadType == payloadType ?? packet.payloadType
    else { return }
    payloadType = packet.payloadType
    if packet.timestamp != timestamp {
      timestamp = packet.timestamp
      position = 0
      // A keyframe begins with its parameter sets, in a packet of type 24.
      isKeyframe = first & 0x1F == 24
      if isKeyframe { step += 1 }
    }
    defer { position += packet.payload.readableBytes }
    guard flips.indices.contains(step), flips[step].isInKeyframe == isKeyframe else { return }
    var payload = packet.payload
    let index = payload.readerIndex + flips[step].position - position
    guard index >= payload.readerIndex, let byte = payload.getInteger(at: index, as: UInt8.self) else { return }
    payload.setInteger(byte ^ flips[step].mask, at: index)
    packet.payload = payload
  }
}
