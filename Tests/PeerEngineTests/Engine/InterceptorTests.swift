import Media
import NIOCore
import PeerEngine
import PeerEngineTestSupport
import RTP
import Signalling
import Testing

@Suite("Interceptors of a connection")
struct InterceptorTests {
  /// Sends each packet of audio with the clock rate as its timestamp, and of video with twice the clock rate.
  private struct RateAsTimestamp: RTPInterceptor {
    mutating func send(_ packet: inout OutgoingRTPPacket) {
      packet.timestamp = UInt32(packet.kind == .audio ? 1 : 2) &* UInt32(packet.clockRate)
    }
  }

  /// Adds the number of packets so far to each timestamp.
  private struct PacketCount: RTPInterceptor {
    private var packets: UInt32 = 0

    mutating func send(_ packet: inout OutgoingRTPPacket) {
      packet.timestamp &+= packets
      packets += 1
    }
  }

  /// Drops all candidates that are sent, or those that arrive, and counts what it sees.
  private struct CandidateFilter: ConnectionInterceptor {
    let dropsIncoming: Bool
    private(set) var interventions: UInt64 = 0

    mutating func incoming(_ message: SignallingMessage, now: MonotonicInstant) -> SignallingMessage? {
      dropsIncoming ? dropped(message) : message
    }

    mutating func outgoing(_ message: SignallingMessage, now: MonotonicInstant) -> SignallingMessage? {
      dropsIncoming ? message : dropped(message)
    }

    private mutating func dropped(_ message: SignallingMessage) -> SignallingMessage? {
      guard case .candidate = message else { return message }
      interventions += 1
      return nil
    }

    init(dropsIncoming: Bool) { self.dropsIncoming = dropsIncoming }
  }

  /// Returns the timestamps of the RTP packets that Alice has sent; SRTP leaves headers unencrypted.
  private func timestamps(_ pair: DemultiplexerPair) -> [UInt32] {
    pair.alice.sent.compactMap { _, datagram in
      PacketKind.of(datagram) == .rtp ? datagram.getInteger(at: datagram.readerIndex + 4, as: UInt32.self) : nil
    }
  }

  @Test("RTP packets pass all interceptors in order before they are encrypted, and only those of this side")
  func packets() throws {
    let pair = DemultiplexerPair {
      $0.policy.interceptors = [PeerInterceptor(rtp: RateAsTimestamp()), PeerInterceptor(rtp: PacketCount())]
    }
    try pair.connect()
    pair.play()
    pair.run(for: .seconds(2))
    let found = timestamps(pair)
    #expect(found.count > 60)
    let isEachCounted = found.enumerated().allSatisfy { number, timestamp in
      let first = timestamp &- UInt32(number)
      return first == 48_000 || first == 180_000
    }
    #expect(isEachCounted)
    // Bob has authenticated what was sent, and Alice receives frames with their own times.
    let received = pair.bob.engine?.statistics.received.values.reduce(0) { $0 + $1.packetsReceived } ?? 0
    #expect(received > 60)
    let times = pair.alice.frames.filter { $0.frame.codec == .opus }.map(\.frame.time.duration)
    let rises = zip(times, times.dropFirst()).allSatisfy { $0 < $1 }
    #expect(times.count > 40 && rises)
  }

  @Test("signalling messages pass all interceptors in both directions, and their interventions are counted together")
  func messages() throws {
    let pair = DemultiplexerPair {
      $0.policy.interceptors = [
        PeerInterceptor(connection: CandidateFilter(dropsIncoming: true)),
        PeerInterceptor(connection: CandidateFilter(dropsIncoming: false)),
      ]
    }
    // The descriptions contain candidates as well.
    try pair.connect()
    let candidates = { (side: DemultiplexerPair.Side) in
      side.said.count { if case .candidate = $0.message { true } else { false } }
    }
    let (dropped, received) = (pair.alice.statistics?.interventions ?? 0, candidates(pair.bob))
    #expect(candidates(pair.alice) == 0)
    #expect(received > 0 && dropped > UInt64(received))
    #expect(pair.bob.statistics?.interventions == 0)
  }
}
