import FaultInjection
import Media
import NIOCore
import PeerEngineTestSupport
import RTP
import Signalling
import TestSupport
import Testing

@testable import PeerEngine

@Suite("A peer with a deliberate media fault")
struct MediaFaultTests {
  private func pair(_ fault: Fault, keyframeResponse: KeyframeResponse = .replay) throws -> DemultiplexerPair {
    let pair = DemultiplexerPair {
      $0.policy.interceptors = [.injecting(fault)]
      $0.policy.media = MediaSession.Configuration(keyframeResponse: keyframeResponse)
    }
    try pair.connect()
    pair.play()
    return pair
  }

  /// Returns the headers of all RTP packets that Alice has sent; SRTP leaves headers unencrypted.
  private func headers(_ pair: DemultiplexerPair) -> [(time: MonotonicInstant, packet: RTPPacket)] {
    pair.alice.sent.compactMap { time, datagram in
      guard PacketKind.of(datagram) == .rtp else { return nil }
      var plain = datagram
      // SRTP encrypts the padding length, so the padding bit is cleared to make the packet parse.
      if let first = plain.getInteger(at: plain.readerIndex, as: UInt8.self) {
        plain.setInteger(first & ~0x20, at: plain.readerIndex)
      }
      return (try? RTPPacket(parsing: plain)).map { (time, $0) }
    }
  }

  @Test(
    "SSRC change: after 3 s all packets have new SSRCs, and frames continue within 1.1 s",
    arguments: [KeyframeResponse.replay, .requestFromSource])
  func ssrcChange(keyframeResponse: KeyframeResponse) throws {
    let pair = try pair(.ssrcChange, keyframeResponse: keyframeResponse)
    let start = pair.now
    pair.run(for: .seconds(8))
    let change = start + .seconds(3)
    let all = headers(pair)
    let before = Set(all.filter { $0.time < change }.map(\.packet.ssrc))
    let after = Set(all.filter { $0.time > change + .milliseconds(20) }.map(\.packet.ssrc))
    #expect(before.count >= 2 && after.count >= 2)
    #expect(before.isDisjoint(with: after))
    #expect(pair.alice.said.count { if case .offer = $0.message { true } else { false } } == 1)
    #expect(pair.alice.statistics?.faultsInjected == 1)
    #expect(pair.bob.ending == nil)
    let sent = pair.alice.source?.sent ?? []
    for codec in [Codec.opus, .vp8] {
      let frames = pair.bob.frames.filter { $0.frame.codec == codec }
      let resumed = try #require(frames.first { $0.time > change + .milliseconds(30) })
      print(
        "measured: after a change of SSRC \(codec) continues after \((resumed.time - change) / .milliseconds(1)) ms")
      #expect(resumed.time - change < .milliseconds(1_100))
      print(
        "measured: with a change of SSRC \(frames.count) of \(sent.count { $0.codec == codec }) \(codec) frames were delivered"
      )
      let came = frames.filter { $0.time > change + .seconds(2) }.map(\.frame.payload)
      #expect(came.count > (codec == .opus ? 140 : 85))
      // The frames delivered from then on are those that were sent, in order.
      let payloads = sent.payloads(codec)
      let first = try #require(came.first.flatMap { payloads.firstIndex(of: $0) })
      expectSame(came, Array(payloads[first...].prefix(came.count)))
    }
  }

  @Test("absurd timestamps: some frames are an hour off, and the others are delivered in time and in order")
  func absurdTimestamps() throws {
    let pair = try pair(.absurdTimestamps)
    pair.run(for: .seconds(14))
    var jumps = 0
    for rate in [48_000, 90_000] as [Int64] {
      let kind: MediaKind = rate == 48_000 ? .audio : .video
      let ssrc = pair.alice.engine?.media.sending.first { $0.media.kind == kind }?.ssrc
      let timestamps = headers(pair).filter { $0.packet.ssrc == ssrc }.map(\.packet.timestamp)
      for (one, next) in zip(timestamps, timestamps.dropFirst()) {
        let distance = Int64(Int32(bitPattern: next &- one)).magnitude
        if distance > 3_000 * UInt64(rate) { jumps += 1 }
      }
    }
    print("measured: absurd timestamps: \(jumps) jumps of more than 3,000 s in 14 s")
    // Three jumps in each direction in 6 s, for each kind.
    #expect(jumps >= 12)
    #expect(pair.bob.ending == nil)
    for codec in [Codec.opus, .vp8] {
      let frames = pair.bob.frames.filter { $0.frame.codec == codec }
      let sent = pair.alice.source?.sent.filter { $0.codec == codec } ?? []
      print("measured: absurd timestamps: \(frames.count) of \(sent.count) \(codec) frames were delivered")
      #expect(Double(frames.count) > Double(sent.count) * 0.8)
      let numbers = frames.compactMap(\.frame.madeUpNumber)
      let rises = zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
      #expect(rises)
      let late = try #require(frames.last)
      // Frame times follow the packets' timestamps: between the jumps they are correct.
      let times = frames.map { $0.frame.time.duration }
      let leaps = zip(times, times.dropFirst()).count { $1 - $0 > .seconds(1) || $1 <= $0 }
      #expect(leaps >= 6 && leaps <= 14)
      #expect(pair.now - late.time < .milliseconds(200))
    }
  }

  @Test("padding only: packets arrive and none is lost, no frame is delivered, and keyframe requests stay rare")
  func paddingOnly() throws {
    let pair = try pair(.paddingOnly)
    pair.run(for: .seconds(10))
    let padded = pair.alice.sent.filter { PacketKind.of($0.datagram) == .rtp }
    let flagged = padded.allSatisfy { ($0.datagram.getInteger(at: 0, as: UInt8.self) ?? 0) & 0x20 != 0 }
    #expect(padded.count > 500)
    #expect(flagged)
    #expect(pair.bob.frames.isEmpty)
    #expect(pair.bob.engine?.state == .connected)
    let received = pair.bob.engine?.statistics.received ?? [:]
    for kind in MediaKind.allCases {
      let track = received[kind]
      #expect(track?.packetsLost == 0)
      #expect((track?.packetsPadding ?? 0) > 250)
    }
    let requests = pair.alice.statistics?.keyframeRequests ?? 0
    print("measured: padding only: \(padded.count) packets, \(requests) keyframe requests in 10 s")
    #expect(requests < 60)
    // The other direction is undisturbed.
    let sent = pair.bob.source?.sent ?? []
    #expect(pair.alice.frames.count > sent.count - 5)
  }

  @Test("sudden leave: after 5 s the peer sends nothing more, and the other side ends the call with a reason")
  func suddenLeave() throws {
    let pair = try pair(.suddenLeave)
    let start = pair.now
    pair.run(for: .seconds(15))
    let last = try #require(pair.alice.sent.last)
    #expect(last.time - start < .milliseconds(5_010) && last.time - start > .milliseconds(4_900))
    let own = try #require(pair.alice.ending)
    #expect(own.ending == CloseReason(.closedByUs, "We stopped sending on purpose, without a goodbye."))
    // The other side notices the silence, but cannot know yet whether it is permanent.
    #expect(pair.bob.engine?.state == .disconnected)
    let goodbyes = pair.bob.events.contains { if case .ended = $0.event { true } else { false } }
    #expect(!goodbyes)
    // The other side may offer again, but gets no response.
    let count = pair.alice.sent.count
    pair.bob.demultiplexer.offer(to: pair.bob.other, now: pair.now)
    pair.run(for: .seconds(30))
    #expect(pair.alice.sent.count == count)
    #expect(pair.alice.said.allSatisfy { $0.time < own.time })
    let ending = try #require(pair.bob.ending)
    print(
      "measured: after a sudden leave the call ends in \((ending.time - own.time) / .seconds(1)) s: \(ending.ending)")
    #expect(ending.ending.cause == .connectionLost)
    // All media sent until then was received complete.
    let sent = (pair.alice.source?.sent ?? []).payloads(.opus)
    let came = pair.bob.frames.map(\.frame).payloads(.opus)
    #expect(came.count > 240)
    expectSame(came, Array(sent.prefix(came.count)))
  }
}
