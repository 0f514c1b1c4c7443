import Media
import NIOCore
import NetworkEmulation
import PeerEngine
import RTP
import TestSupport
import Testing

@Suite("Sums of packet counts in a session")
struct PacketSumsTests {
  /// What the network does to the packets.
  private struct NetworkConditions {
    var generator: SeededGenerator
    var loss: Double
    var asks: Bool

    init(seed: UInt64) {
      generator = SeededGenerator(seed: seed)
      loss = [0, 0.01, 0.1, 0.4][Int(seed) % 4]
      asks = seed % 3 != 0
    }

    mutating func happens(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &generator) < share }
  }

  /// Returns the packets of frames and, at random, packets that contain only padding.
  private func tape(
    _ weather: inout NetworkConditions, maker: inout PacketMaker, videoFrames: Range<Int>, from start: Duration
  )
    -> RecordedPackets
  {
    var entries: [RecordedPackets.Entry] = []
    for number in videoFrames {
      let time = start + .milliseconds((number - videoFrames.lowerBound) * 33)
      var packets = maker.videoFrame(number, isKeyframe: number % 40 == 0, packets: 4)
      while weather.happens(0.2) { packets.append(maker.padding()) }
      entries += packets.enumerated().map { .init(time: time + .milliseconds($0), packet: $1) }
    }
    return RecordedPackets(entries)
  }

  @Test(
    "received, padding and lost packets add up to those sent, whatever the network does and however often the SSRC changes",
    arguments: 1...12 as ClosedRange<UInt64>)
  func sums(seed: UInt64) throws {
    var weather = NetworkConditions(seed: seed)
    var media = Negotiated()
    media.announced = false
    media.nack = weather.asks
    var listener = Listener(media: media)
    // After every step, the packets counted as received, padding or lost are those that left the reorder buffer and those
    // still in it.
    listener.check = { session in
      let counts = session.receiving[1].statistics
      let sum = counts.packetsReceived + counts.packetsPadding + counts.packetsLost
      let settled = counts.packetsExpected + UInt64(session.receiving[1].waiting.packets)
      if sum != settled { Issue.record("\(sum) packets arrived or were given up, but \(settled) are accounted for.") }
    }
    var expected = 0
    var padding = 0
    var maker = PacketMaker.video(sequence: UInt16(65_536 - Int(seed) * 20), timestamp: .max - 200_000)
    for part in 0..<3 {
      let whole = tape(&weather, maker: &maker, videoFrames: part * 40..<part * 40 + 40, from: .zero)
      // The first and the last packets arrive, so that both sides know of all packets between them.
      let first = whole.entries.first?.packet.sequenceNumber
      let last = whole.entries.last?.packet.sequenceNumber
      let thinned = whole.losing { packet in
        weather.happens(weather.loss) && packet.sequenceNumber != first && packet.sequenceNumber != last
      }
      let wild = thinned.reordered(depth: 12, using: &weather.generator)
        .doubled(0.05, depth: 12, using: &weather.generator)
      wild.play(to: &listener)
      expected += whole.entries.count
      padding += thinned.entries.count { $0.packet.payload.readableBytes == 0 }
      // Another SSRC, or the same one with restarted sequence numbers.
      if part == 0 { maker.ssrc &+= 0x1000 } else { maker.sequence &+= 30_000 }
    }
    listener.close()
    var counts = TrackStatistics()
    for case .statistics(let track, let last) in listener.events where track.kind == .video { counts = last }
    #expect(counts.packetsReceived + counts.packetsPadding + counts.packetsLost == counts.packetsExpected)
    #expect(counts.packetsExpected == UInt64(expected))
    #expect(counts.packetsPadding == UInt64(padding))
    if weather.loss == 0 { #expect(counts.packetsLost == 0) }
  }

  @Test("a packet that arrives after it was given up counts as late and received, not as lost")
  func late() throws {
    var media = Negotiated()
    media.nack = false
    var listener = Listener(media: media)
    var audio = PacketMaker.audio()
    var withheld: RTPPacket?
    for number in 0..<60 {
      let packet = audio.audio(number)
      if number == 10 { withheld = packet } else { listener.receive(packet) }
      listener.run(for: .milliseconds(20))
    }
    var counts = try #require(listener.session.receiveStatistics[.audio])
    #expect(counts.packetsLost == 1 && counts.packetsLate == 0 && counts.packetsReceived == 59)
    listener.receive(try #require(withheld))
    counts = try #require(listener.session.receiveStatistics[.audio])
    #expect(counts.packetsLost == 0 && counts.packetsLate == 1 && counts.packetsReceived == 60)
    #expect(counts.packetsExpected == 60 && counts.packetsRecovered == 0)
    #expect(listener.frames(.opus).count == 59)
    // Another copy is a duplicate.
    listener.receive(try #require(withheld))
    counts = try #require(listener.session.receiveStatistics[.audio])
    #expect(counts.packetsLate == 1 && counts.packetsDuplicated == 1 && counts.packetsReceived == 60)
  }

  @Test("packets that contain only padding are counted separately, and are neither lost nor a gap")
  func padding() throws {
    var listener = Listener()
    var video = PacketMaker.video()
    for number in 0..<60 {
      listener.receive(video.videoFrame(number, isKeyframe: number == 0))
      for _ in 0..<(number % 4) { listener.receive(video.padding()) }
      // In the RTX stream such packets are empty or contain the number of a packet that was received.
      listener.receive(
        RTPPacket(
          payloadType: 97, sequenceNumber: UInt16(number), timestamp: 1, ssrc: Negotiated.aliceRepair,
          paddingLength: 200))
      listener.run(for: .microseconds(33_333))
    }
    let counts = try #require(listener.session.receiveStatistics[.video])
    #expect(counts.packetsPadding == 90)
    #expect(counts.packetsReceived == 180 && counts.packetsExpected == 270 && counts.packetsLost == 0)
    #expect(counts.packetsRequested == 0 && counts.keyframeRequests == 0)
    #expect(listener.numbers(.vp8) == Array(0..<60))
    #expect(listener.gaps(.vp8).isEmpty)
    print(
      "measured: \(counts.packetsPadding) packets of padding among \(counts.packetsReceived) others:",
      "\(counts.packetsLost) lost, \(counts.packetsRequested) requested")
  }

  @Test("between two sessions, the receiver's sums match the sender's counts", arguments: [false, true])
  func againstSender(asks: Bool) throws {
    var media = Negotiated()
    media.nack = asks
    media.audioNack = asks
    var call = SessionCall(
      seed: 21, toBob: .init(loss: 0.08, delay: .milliseconds(25), duplicate: 0.03),
      toAlice: .init(loss: 0.08, delay: .milliseconds(25)), media: media)
    call.run(for: .seconds(10))
    call.toBob.conditions.loss = 0
    call.run(for: .milliseconds(300))
    call.settle()
    for (kind, ssrc) in [(MediaKind.audio, Negotiated.aliceAudio), (.video, Negotiated.aliceVideo)] {
      let counts = try #require(call.bob.session.receiveStatistics[kind])
      var numbers: Set<UInt16> = []
      for (_, packet) in call.alice.rtp where packet.ssrc == ssrc { numbers.insert(packet.sequenceNumber) }
      #expect(counts.packetsExpected == UInt64(numbers.count))
      #expect(counts.packetsReceived + counts.packetsLost == counts.packetsExpected)
      #expect(asks == (counts.packetsLost == 0))
      #expect(asks == (counts.packetsRecovered > 0))
      print(
        "measured: 8 % loss and 3 % duplicates, \(kind), \(asks ? "requested again" : "not requested"):",
        "\(numbers.count) sent = \(counts.packetsReceived - counts.packetsRecovered) received",
        "+ \(counts.packetsRecovered) recovered + \(counts.packetsLost) lost; \(counts.packetsDuplicated) duplicated")
    }
  }
}
