import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport

/// Senders that send media over one shared link, each to its own receiver, in time that the test advances.
struct SharedPath {
  /// One sender and its receiver. A class, because a session is large and must not be copied on each access.
  final class Flow {
    var sender: MediaSession
    var receiver: MediaSession
    /// The source of the sender's frames: an encoder that adapts to the target bitrate, or a file with a bitrate of its
    /// own.
    var encoder: LiveEncoder?
    var file: LiveEncoder?
    var back: EmulatedLink
    /// When the flow's camera starts, and when its receiver joins.
    var start: MonotonicInstant
    var joins: MonotonicInstant
    fileprivate var hasJoined = false
    var targets: [(time: MonotonicInstant, bitrate: Int)] = []
    var frames: [(time: MonotonicInstant, frame: EncodedFrame)] = []
    var keyframeRequests: [MonotonicInstant] = []
    /// The bytes of media that arrived in each second since the start.
    var delivered: [Int: Int] = [:]
    /// The time at which each frame was handed to the sender, by frame number.
    var given: [Int: MonotonicInstant] = [:]
    /// A filter for each RTCP packet of the receiver; false drops the packet.
    var carriesFeedback: (RTCPPacket) -> Bool = { _ in true }
    /// Estimates the maximum bitrate of the video in place of the receiver.
    var estimator: ThroughputEstimator?

    init(sender: MediaSession, receiver: MediaSession, back: EmulatedLink, start: MonotonicInstant) {
      self.sender = sender
      self.receiver = receiver
      self.back = back
      self.start = start
      joins = start
    }
  }

  /// The time that a datagram waited in the link's queue.
  struct Wait {
    var time: MonotonicInstant
    var wait: Duration
  }

  let start: MonotonicInstant
  private(set) var now: MonotonicInstant
  var line: EmulatedLink
  var flows: [Flow] = []
  private(set) var waits: [Wait] = []
  private(set) var bytesCarried = 0
  private var departures: [UInt32: MonotonicInstant] = [:]
  private var serial: UInt32 = 0
  private let seed: UInt64

  init(seed: UInt64, _ conditions: Impairment.Conditions) {
    start = .now
    now = start
    self.seed = seed
    line = EmulatedLink(conditions, seed: seed)
  }

  /// Adds a sender and its receiver.
  mutating func add(
    after delay: Duration = .zero, media: Negotiated = .init(), configuration: MediaSession.Configuration = .live,
    file: Int? = nil
  ) {
    let number = UInt64(flows.count)
    var sender = MediaSession(
      owner: ParticipantID("viewer"), cname: "sender", seed: seed &+ number, configuration: configuration)
    var receiver = MediaSession(owner: ParticipantID("sender"), cname: "viewer", seed: seed &+ 100 &+ number)
    sender.configure(media.alice, now: now)
    receiver.configure(media.bob, now: now)
    let flow = Flow(
      sender: sender, receiver: receiver,
      back: EmulatedLink(.init(delay: line.conditions.delay), seed: seed &+ 200 &+ number), start: now + delay)
    if let file {
      flow.file = LiveEncoder(seed: seed &+ number, start: now + delay)
      flow.file?.bitrate = file
      flow.file?.keyframeEvery = 90
    } else {
      flow.encoder = LiveEncoder(seed: seed &+ number, start: now + delay)
    }
    flows.append(flow)
  }

  /// Sends a picture loss indication, as the receiver's browser would.
  mutating func requestKeyframe(of position: Int = 0) {
    var datagram = ByteBuffer()
    RTCPPacket.write(
      [.pictureLossIndication(PictureLossIndication(senderSSRC: 1, mediaSSRC: Negotiated.aliceVideo))], into: &datagram)
    flows[position].back.send(datagram, now: now)
  }

  /// Sends a receiver's limit in bits a second.
  mutating func limit(to bitrate: UInt64, sources: [UInt32], of position: Int = 0) {
    var datagram = ByteBuffer()
    RTCPPacket.write(
      [
        .receiverEstimatedMaximumBitrate(
          ReceiverEstimatedMaximumBitrate(senderSSRC: 1, bitrate: bitrate, sources: sources))
      ], into: &datagram)
    flows[position].back.send(datagram, now: now)
  }

  mutating func run(for span: Duration) {
    let end = now + span
    work()
    while let next = nextEvent, next <= end {
      now = max(now, next)
      work()
    }
    now = end
  }

  private var nextEvent: MonotonicInstant? {
    var earliest = line.deadline
    func consider(_ instant: MonotonicInstant?) {
      if let instant { earliest = earliest.map { min($0, instant) } ?? instant }
    }
    for flow in flows {
      if flow.start > now {
        consider(flow.start)
        continue
      }
      consider(flow.sender.deadline)
      consider(flow.receiver.deadline)
      consider(flow.back.deadline)
      consider(flow.encoder?.deadline)
      consider(flow.file?.deadline)
    }
    return earliest
  }

  private mutating func work() {
    while let datagram = line.receive(now: now) { arrive(datagram) }
    for position in flows.indices where flows[position].start <= now {
      if !flows[position].hasJoined, flows[position].joins <= now {
        flows[position].hasJoined = true
        flows[position].sender.transportBecameReady(now: now)
        flows[position].receiver.transportBecameReady(now: now)
      }
      while let frame = nextFrame(position) {
        if frame.codec == .vp8, let number = SyntheticSource.number(of: frame) { flows[position].given[number] = now }
        flows[position].sender.send(frame, now: now)
      }
      while let datagram = flows[position].back.receive(now: now) {
        if PacketKind.of(datagram) == .rtcp { flows[position].sender.receivedRTCP(datagram, now: now) }
      }
      let wallClock = SessionCall.wallClockAtStart + (now - start)
      for output in flows[position].sender.poll(now: now, wallClock: wallClock) { take(output, of: position) }
      for output in flows[position].receiver.poll(now: now, wallClock: wallClock) { takeAnswer(output, of: position) }
    }
  }

  private mutating func nextFrame(_ position: Int) -> EncodedFrame? {
    flows[position].encoder?.next(now: now) ?? flows[position].file?.next(now: now)
  }

  private mutating func take(_ output: MediaSession.Output, of position: Int) {
    switch output {
    case .rtp(let datagram), .rtcp(let datagram):
      // 28 bytes represent the IPv4 and UDP headers; 8 of them hold the flow's index and the serial number.
      var wrapped = ByteBuffer()
      wrapped.writeMultipleIntegers(UInt32(position), serial)
      wrapped.writeRepeatingByte(0, count: 20)
      wrapped.writeImmutableBuffer(datagram)
      departures[serial] = now
      serial &+= 1
      line.send(wrapped, now: now)
    case .keyframeRequested:
      flows[position].keyframeRequests.append(now)
      flows[position].encoder?.requestKeyframe(now: now)
    case .targetBitrate(let target):
      flows[position].targets.append((now, target.bitrate))
      flows[position].encoder?.bitrate = target.bitrate
    case .events, .codecNotNegotiated:
      break
    }
  }

  private mutating func takeAnswer(_ output: MediaSession.Output, of position: Int) {
    switch output {
    case .rtcp(let datagram):
      let kept = ((try? RTCPPacket.parse(compound: datagram)) ?? []).filter(flows[position].carriesFeedback)
      guard !kept.isEmpty else { return }
      var written = ByteBuffer()
      RTCPPacket.write(kept, into: &written)
      flows[position].back.send(written, now: now)
    case .events(let events):
      for case .frame(let frame) in events { flows[position].frames.append((now, frame)) }
    case .rtp, .keyframeRequested, .targetBitrate, .codecNotNegotiated:
      break
    }
  }

  private mutating func arrive(_ datagram: ByteBuffer) {
    var datagram = datagram
    let size = datagram.readableBytes
    guard let (flow, serial) = datagram.readMultipleIntegers(as: (UInt32, UInt32).self) else { return }
    datagram.moveReaderIndex(forwardBy: 20)
    let position = Int(flow)
    if let departure = departures.removeValue(forKey: serial) {
      waits.append(Wait(time: now, wait: now - departure - line.conditions.delay))
    }
    bytesCarried += size
    flows[position].delivered[Int((now - start) / .seconds(1)), default: 0] += size
    let own = ByteBuffer(bytes: datagram.readableBytesView)
    if PacketKind.of(own) == .rtcp {
      flows[position].receiver.receivedRTCP(own, now: now)
    } else {
      estimate(own, of: position)
      flows[position].receiver.receivedRTP(own, now: now)
    }
  }

  /// Shows a packet to the flow's estimator, and sends what it estimates.
  private func estimate(_ datagram: ByteBuffer, of position: Int) {
    guard let packet = try? RTPPacket(parsing: datagram), packet.ssrc == Negotiated.aliceVideo,
      let bitrate = flows[position].estimator?.add(bytes: packet.payload.readableBytes, now: now)
    else { return }
    var written = ByteBuffer()
    RTCPPacket.write(
      [
        .receiverEstimatedMaximumBitrate(
          ReceiverEstimatedMaximumBitrate(senderSSRC: 1, bitrate: bitrate, sources: [packet.ssrc]))
      ], into: &written)
    flows[position].back.send(written, now: now)
  }
}

extension MediaSession.Configuration {
  /// The configuration for a source that adapts to the target bitrate and encodes keyframes on request.
  static var live: Self { Self(keyframeResponse: .requestFromSource) }
}
