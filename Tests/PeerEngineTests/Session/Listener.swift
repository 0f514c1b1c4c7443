import Media
import NIOCore
import PeerEngine
import RTP
import TestSupport
import Testing

/// A session that receives packets written by a test, without a sender, in time that the test advances.
struct Listener {
  let start: MonotonicInstant
  private(set) var now: MonotonicInstant
  var session: MediaSession
  private(set) var events: [MediaEvent] = []
  private(set) var feedback: [(time: MonotonicInstant, packet: RTCPPacket)] = []
  /// Called with the session after each step.
  var check: (MediaSession) -> Void = { _ in }

  /// - Parameter media: what was negotiated; the session is Bob's.
  init(media: Negotiated = Negotiated(), configuration: MediaSession.Configuration = .init()) {
    start = MonotonicInstant.now
    now = start
    session = MediaSession(owner: ParticipantID("alice"), cname: "bob", seed: 1, configuration: configuration)
    session.configure(media.bob, now: now)
    session.transportBecameReady(now: now)
  }

  /// Delivers a packet to the session, as if it arrived from the network.
  mutating func receive(_ packet: RTPPacket) {
    var datagram = ByteBuffer()
    packet.write(into: &datagram)
    session.receivedRTP(datagram, now: now)
    work()
  }

  mutating func receive(_ packets: [RTPPacket]) {
    for packet in packets { receive(packet) }
  }

  /// Delivers bytes that claim to be RTCP.
  mutating func receiveControl(_ bytes: [UInt8]) {
    session.receivedRTCP(ByteBuffer(bytes: bytes), now: now)
    work()
  }

  /// Advances time and performs what falls due on the way.
  mutating func run(for span: Duration) { run(until: now + span) }

  mutating func run(until end: MonotonicInstant) {
    var idle = 0
    while let next = session.deadline, next <= end {
      // A deadline that has passed and does not move would keep a driver busy permanently.
      idle = next > now ? 0 : idle + 1
      guard idle < 100 else {
        Issue.record("The session's deadline is in the past and does not move.")
        break
      }
      now = max(now, next)
      work()
    }
    now = max(now, end)
  }

  /// Closes the session, which delivers the frames that it still buffers.
  mutating func close() {
    for output in session.close(now: now) { take(output) }
  }

  func frames(_ codec: Codec) -> [EncodedFrame] {
    events.compactMap { event in
      if case .frame(let frame) = event, frame.codec == codec { frame } else { nil }
    }
  }

  /// Returns the gaps of a track, each with the number of the frame that follows it.
  func gaps(_ codec: Codec) -> [(before: Int, gap: MediaGap)] {
    frames(codec).compactMap { frame in
      guard let gap = frame.gap, let number = SyntheticSource.number(of: frame) else { return nil }
      return (number, gap)
    }
  }

  func numbers(_ codec: Codec) -> [Int] { frames(codec).compactMap(SyntheticSource.number) }

  var keyframeRequests: [MonotonicInstant] {
    feedback.filter { if case .pictureLossIndication = $0.packet { true } else { false } }.map(\.time)
  }

  private mutating func work() {
    for output in session.poll(now: now, wallClock: SessionCall.wallClockAtStart + (now - start)) { take(output) }
    check(session)
  }

  private mutating func take(_ output: MediaSession.Output) {
    switch output {
    case .events(let events): self.events += events
    case .rtcp(let datagram):
      for packet in (try? RTCPPacket.parse(compound: datagram)) ?? [] { feedback.append((now, packet)) }
    case .rtp, .keyframeRequested, .targetBitrate, .codecNotNegotiated: break
    }
  }
}
