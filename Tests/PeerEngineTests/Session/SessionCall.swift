import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport

/// Two media sessions joined by two lossy links, in time that the test advances. Alice sends media, Bob receives; both
/// send RTCP.
struct SessionCall {
  /// One side's session and what it has sent and received.
  struct Side {
    var session: MediaSession
    var events: [MediaEvent] = []
    /// All packets that it sent, with their times.
    var rtp: [(time: MonotonicInstant, packet: RTPPacket)] = []
    var rtcp: [(time: MonotonicInstant, packet: RTCPPacket)] = []
    var keyframeRequests: [MonotonicInstant] = []
    var targets: [(time: MonotonicInstant, target: CongestionController.Target)] = []

    func frames(_ codec: Codec) -> [EncodedFrame] {
      events.compactMap { event in
        if case .frame(let frame) = event, frame.codec == codec { frame } else { nil }
      }
    }

    var clocks: [ClockReport] {
      events.compactMap { event in
        if case .clock(let report) = event { report } else { nil }
      }
    }
  }

  static let wallClockAtStart = NTPTime(secondsSince1970: 1_700_000_000)

  let start: MonotonicInstant
  var now: MonotonicInstant
  var alice: Side
  var bob: Side
  var toBob: EmulatedLink
  var toAlice: EmulatedLink
  var source: SyntheticSource?
  /// Whether the source encodes a keyframe when one is requested.
  var sourceMakesKeyframes = false
  /// How the times of the source's frames relate to each other.
  var times = SendClock.Times.shared
  /// The frames that were handed to Alice's session.
  var played: [EncodedFrame] = []
  /// The codecs of frames that Alice could not send.
  var missingCodecs: [Codec] = []
  /// A filter for each RTP packet sent to Bob; false drops the packet.
  var carriesRTP: (RTPPacket) -> Bool = { _ in true }
  /// A filter for each RTCP packet sent to Alice; false drops the packet.
  var carriesFeedback: (RTCPPacket) -> Bool = { _ in true }
  /// Changes an RTCP packet on its way to Alice.
  var rewriteFeedback: (RTCPPacket) -> RTCPPacket = { $0 }
  /// Changes an RTP packet on its way to Bob.
  var rewrite: (RTPPacket) -> RTPPacket = { $0 }

  init(
    seed: UInt64 = 1, toBob: Impairment.Conditions = .init(), toAlice: Impairment.Conditions? = nil,
    media: Negotiated = .init(), configuration: MediaSession.Configuration = .init(), isReady: Bool = true
  ) {
    start = MonotonicInstant.now
    now = start
    self.toBob = EmulatedLink(toBob, seed: seed)
    self.toAlice = EmulatedLink(toAlice ?? .init(delay: toBob.delay), seed: seed &+ 1)
    source = SyntheticSource(seed: seed, start: start)
    alice = Side(
      session: MediaSession(
        owner: ParticipantID("bob"), cname: "alice", seed: seed, configuration: configuration))
    bob = Side(
      session: MediaSession(
        owner: ParticipantID("alice"), cname: "bob", seed: seed &+ 100, configuration: configuration))
    alice.session.configure(media.alice, now: now)
    bob.session.configure(media.bob, now: now)
    if isReady {
      alice.session.transportBecameReady(now: now)
      bob.session.transportBecameReady(now: now)
    }
  }

  /// Advances time and delivers everything that falls due on the way.
  mutating func run(for span: Duration) {
    let end = now + span
    work()
    while true {
      let deadlines = [
        alice.session.deadline, bob.session.deadline, toBob.deadline, toAlice.deadline, source?.deadline,
      ].compactMap(\.self)
      guard let next = deadlines.min(), next <= end else { break }
      now = max(now, next)
      work()
    }
    now = end
  }

  /// Stops the source, and lets everything in flight arrive.
  mutating func settle(for span: Duration = .seconds(5)) {
    source = nil
    run(for: span)
  }

  mutating func give(_ frame: EncodedFrame) {
    played.append(frame)
    alice.session.send(frame, times: times, now: now)
    work()
  }

  private mutating func work() {
    while let frame = source?.next(now: now) {
      played.append(frame)
      alice.session.send(frame, times: times, now: now)
    }
    while let datagram = toBob.receive(now: now) { Self.deliver(datagram, to: &bob.session, now: now) }
    while let datagram = toAlice.receive(now: now) { Self.deliver(datagram, to: &alice.session, now: now) }
    let wallClock = Self.wallClockAtStart + (now - start)
    for output in alice.session.poll(now: now, wallClock: wallClock) { takeFromAlice(output) }
    for output in bob.session.poll(now: now, wallClock: wallClock) { takeFromBob(output) }
  }

  private static func deliver(_ datagram: ByteBuffer, to session: inout MediaSession, now: MonotonicInstant) {
    if PacketKind.of(datagram) == .rtcp {
      session.receivedRTCP(datagram, now: now)
    } else {
      session.receivedRTP(datagram, now: now)
    }
  }

  mutating func takeFromAlice(_ output: MediaSession.Output) {
    switch output {
    case .rtp(let datagram):
      guard let packet = try? RTPPacket(parsing: datagram) else { return }
      alice.rtp.append((now, packet))
      guard carriesRTP(packet) else { return }
      var changed = ByteBuffer()
      rewrite(packet).write(into: &changed)
      toBob.send(changed, now: now)
    case .rtcp(let datagram):
      for packet in (try? RTCPPacket.parse(compound: datagram)) ?? [] { alice.rtcp.append((now, packet)) }
      toBob.send(datagram, now: now)
    case .events(let events):
      alice.events += events
    case .keyframeRequested:
      alice.keyframeRequests.append(now)
      if sourceMakesKeyframes { source?.keyframeIsWanted = true }
    case .targetBitrate(let target):
      alice.targets.append((now, target))
    case .codecNotNegotiated(let codec): missingCodecs.append(codec)
    }
  }

  mutating func takeFromBob(_ output: MediaSession.Output) {
    switch output {
    case .rtp(let datagram):
      if let packet = try? RTPPacket(parsing: datagram) { bob.rtp.append((now, packet)) }
      toAlice.send(datagram, now: now)
    case .rtcp(let datagram):
      var kept: [RTCPPacket] = []
      for packet in (try? RTCPPacket.parse(compound: datagram)) ?? [] {
        bob.rtcp.append((now, packet))
        if carriesFeedback(packet) { kept.append(rewriteFeedback(packet)) }
      }
      guard !kept.isEmpty else { return }
      var datagram = ByteBuffer()
      RTCPPacket.write(kept, into: &datagram)
      toAlice.send(datagram, now: now)
    case .events(let events):
      bob.events += events
    case .keyframeRequested:
      bob.keyframeRequests.append(now)
    case .targetBitrate(let target):
      bob.targets.append((now, target))
    case .codecNotNegotiated: break
    }
  }
}

/// The media that both sides of a call negotiated: Opus and VP8, sent by Alice and received by Bob.
struct Negotiated {
  var retransmission = true
  var nack = true
  /// Whether NACK is negotiated for audio as well, as between two peers of this implementation.
  var audioNack = false
  var transportWide = true
  var maximumBitrateEstimate = false
  var mids = true
  var announced = true
  var pictureLossIndication = true
  var fullIntraRequest = false
  /// The preferred codecs.
  var audio = Codec.opus
  var video = Codec.vp8
  /// Codecs that may be used as well, each with its payload type.
  var alternatives: [(codec: Codec, payloadType: UInt8)] = []
  /// The payload types and profiles of the preferred codec of video, if it has several profiles.
  var profiles: [(payloadType: UInt8, profile: String)] = []
  /// The payload type of RED, if it was negotiated.
  var redundancyPayloadType: UInt8?
  /// The id of the orientation of video, if it was negotiated.
  var videoOrientation: UInt8?

  var alice: [NegotiatedMedia] { [section(audio, ofAlice: true), section(video, ofAlice: true)] }
  var bob: [NegotiatedMedia] { [section(audio, ofAlice: false), section(video, ofAlice: false)] }

  static let aliceAudio: UInt32 = 0xA001
  static let aliceVideo: UInt32 = 0xA002
  static let aliceRepair: UInt32 = 0xA003

  func section(_ codec: Codec, ofAlice: Bool) -> NegotiatedMedia {
    let isVideo = codec.kind == .video
    var media = NegotiatedMedia(
      index: isVideo ? 1 : 0, mid: mids ? (isVideo ? "1" : "0") : nil, codec: codec, sends: ofAlice, receives: !ofAlice,
      payloadType: isVideo ? 96 : 111, localSSRC: isVideo ? 0xB002 : 0xB001)
    if ofAlice { media.localSSRC = isVideo ? Self.aliceVideo : Self.aliceAudio }
    if isVideo, retransmission {
      media.retransmissionPayloadType = 97
      media.localRetransmissionSSRC = ofAlice ? Self.aliceRepair : 0xB003
    }
    if !ofAlice, announced {
      media.remoteSources = [
        .init(
          ssrc: isVideo ? Self.aliceVideo : Self.aliceAudio,
          retransmissionSSRC: isVideo && retransmission ? Self.aliceRepair : nil)
      ]
    }
    media.feedback.nack = isVideo ? nack : audioNack
    media.feedback.pictureLossIndication = isVideo && pictureLossIndication
    media.feedback.fullIntraRequest = isVideo && fullIntraRequest
    media.feedback.transportWide = transportWide
    media.feedback.maximumBitrateEstimate = isVideo && maximumBitrateEstimate
    media.extensions.mid = mids ? 4 : nil
    media.extensions.streamID = isVideo ? 10 : nil
    media.extensions.repairedStreamID = isVideo ? 11 : nil
    media.extensions.videoOrientation = isVideo ? videoOrientation : nil
    media.extensions.absoluteSendTime = 2
    media.extensions.transportSequenceNumber = transportWide ? 3 : nil
    media.alternatives = alternatives.filter { $0.codec.kind == codec.kind }.map {
      var format = MediaFormat(codec: $0.codec, payloadType: $0.payloadType, feedback: media.feedback)
      // Several formats may not share the payload type of retransmissions.
      if isVideo, retransmission { format.retransmissionPayloadType = $0.payloadType + 1 }
      return format
    }
    if isVideo, !profiles.isEmpty {
      let formats = profiles.map { payloadType, profile in
        var format = MediaFormat(
          codec: codec, payloadType: payloadType, retransmissionPayloadType: payloadType + 1, feedback: media.feedback)
        format.profile = profile
        return format
      }
      (media.format, media.alternatives) = (formats[0], Array(formats.dropFirst()))
    }
    if !isVideo { media.redundancyPayloadType = redundancyPayloadType }
    return media
  }
}

extension [MediaSession.Output] {
  /// All events of received media, in order.
  var mediaEvents: [MediaEvent] {
    flatMap { output -> [MediaEvent] in
      if case .events(let events) = output { events } else { [] }
    }
  }
}
